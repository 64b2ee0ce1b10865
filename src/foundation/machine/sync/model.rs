//! Atomics and channels of a model, in which a memory order can be dropped on purpose.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// The order that is treated as relaxed. A thread-local will do, as all threads of a model are coroutines of one
    /// thread.
    static DROPPED: Cell<Option<Ordering>> = const { Cell::new(None) };
}

/// The order that an access has in the model.
fn order(stated: Ordering) -> Ordering {
    if DROPPED.get() == Some(stated) { Ordering::Relaxed } else { stated }
}

/// Runs a model in every interleaving, or in those with at most this number of preemptions (a thread is switched out
/// before it waits or ends). Prints the number of interleavings.
pub fn explore(name: &str, preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let which = preemptions.map_or("all".to_owned(), |most| format!("at most {most} preemptions"));
    println!("{name}: {} interleavings ({which})", count.load(Ordering::Relaxed));
}

/// The same, with every access of one order relaxed. A model that does not panic then cannot detect that the order is
/// missing.
pub fn explore_without(dropped: Ordering, name: &str, model: impl Fn() + Send + Sync + 'static) {
    DROPPED.set(Some(dropped));
    explore(name, None, model);
}

/// The part of `std::sync::atomic` that is modelled.
pub mod atomic {
    pub use std::sync::atomic::Ordering;

    use super::order;

    macro_rules! atomics {
        ($($name:ident: $value:ty),*) => { $(
            /// As in `std`.
            #[derive(Debug)]
            pub struct $name(loom::sync::atomic::$name);

            impl $name {
                /// As in `std`.
                pub fn new(value: $value) -> Self {
                    $name(loom::sync::atomic::$name::new(value))
                }

                /// As in `std`.
                pub fn load(&self, stated: Ordering) -> $value {
                    self.0.load(order(stated))
                }

                /// As in `std`.
                pub fn store(&self, value: $value, stated: Ordering) {
                    self.0.store(value, order(stated));
                }
            }
        )* };
    }
    atomics! { AtomicBool: bool, AtomicUsize: usize }
}

/// The part of `std::sync::mpsc` that is modelled, for one sender and few messages. (The channels of loom are never
/// disconnected.)
pub mod mpsc {
    use std::cell::Cell;
    use std::collections::VecDeque;
    pub use std::sync::mpsc::{SendError, TryRecvError};
    use std::sync::{Arc, Mutex, PoisonError};

    use super::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// The most messages that a model sends.
    const MOST: usize = 4;

    /// What both ends share. The messages themselves are outside the model: `written` stands for them.
    #[derive(Debug)]
    struct Channel<T> {
        messages: Mutex<VecDeque<T>>,
        /// Whether each message is written; stored relaxed. A receiver is sure to see the flag only if the write
        /// happens before its load.
        written: [AtomicBool; MOST],
        sent: AtomicUsize,
        has_sender: AtomicBool,
        has_receiver: AtomicBool,
    }

    impl<T> Channel<T> {
        fn messages(&self) -> std::sync::MutexGuard<'_, VecDeque<T>> {
            self.messages.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// As in `std`.
    #[derive(Debug)]
    pub struct Sender<T> {
        channel: Arc<Channel<T>>,
        sent: Cell<usize>,
    }

    /// As in `std`.
    #[derive(Debug)]
    pub struct Receiver<T> {
        channel: Arc<Channel<T>>,
        received: Cell<usize>,
    }

    /// As in `std`.
    pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
        let channel = Arc::new(Channel {
            messages: Mutex::default(),
            written: std::array::from_fn(|_| AtomicBool::new(false)),
            sent: AtomicUsize::new(0),
            has_sender: AtomicBool::new(true),
            has_receiver: AtomicBool::new(true),
        });
        (Sender { channel: Arc::clone(&channel), sent: Cell::new(0) }, Receiver { channel, received: Cell::new(0) })
    }

    impl<T> Sender<T> {
        /// As in `std`.
        pub fn send(&self, message: T) -> Result<(), SendError<T>> {
            let channel = &*self.channel;
            if !channel.has_receiver.load(Ordering::Acquire) {
                return Err(SendError(message));
            }
            let index = self.sent.replace(self.sent.get() + 1);
            channel.messages().push_back(message);
            channel.written[index].store(true, Ordering::Relaxed);
            channel.sent.store(index + 1, Ordering::Release);
            Ok(())
        }
    }

    impl<T> Receiver<T> {
        /// As in `std`.
        pub fn try_recv(&self) -> Result<T, TryRecvError> {
            let (channel, index) = (&*self.channel, self.received.get());
            // `has_sender` is loaded before `sent`: the sender may send once more and then go.
            let has_sender = channel.has_sender.load(Ordering::Acquire);
            if channel.sent.load(Ordering::Acquire) == index {
                return Err(if has_sender { TryRecvError::Empty } else { TryRecvError::Disconnected });
            }
            self.received.set(index + 1);
            assert!(channel.written[index].load(Ordering::Relaxed), "the message has not been seen to be written");
            Ok(channel.messages().pop_front().expect("it was sent"))
        }
    }

    impl<T> Drop for Sender<T> {
        fn drop(&mut self) {
            self.channel.has_sender.store(false, Ordering::Release);
        }
    }

    impl<T> Drop for Receiver<T> {
        fn drop(&mut self) {
            self.channel.has_receiver.store(false, Ordering::Release);
        }
    }
}
