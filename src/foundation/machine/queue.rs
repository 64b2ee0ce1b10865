//! A queue from one thread to another, for items that take far longer than a lock. The channels of the standard library do more, in
//! six times the code, which is compiled anew for each type of items.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// One end is gone.
    is_over: bool,
}

impl<T> Queue<T> {
    /// The state once it is no longer so, or one end is gone. Nothing panics while it is locked.
    fn unless(&self, is_so: impl Fn(&State<T>) -> bool) -> MutexGuard<'_, State<T>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.changed.wait_while(state, |state| !state.is_over && is_so(state));
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, after the end.
    fn end(&self) -> MutexGuard<'_, State<T>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_over = true;
        self.changed.notify_one();
        state
    }
}

/// The end that sends. Items that were sent before it is dropped are received.
#[derive(Debug)]
pub struct Sender<T>(Arc<Queue<T>>);

/// The end that receives, until no sender is left. Items that it has not received are dropped with it.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Queue<T>>);

/// A queue of at most `most` items, and at least one.
pub fn queue<T>(most: usize) -> (Sender<T>, Receiver<T>) {
    let state = Mutex::new(State { items: VecDeque::new(), is_over: false });
    let queue = Arc::new(Queue { state, changed: Condvar::new(), most });
    (Sender(Arc::clone(&queue)), Receiver(queue))
}

impl<T> Sender<T> {
    /// Waits while the queue is full. False if the receiver is gone, and the item with it.
    pub fn send(&self, item: T) -> bool {
        let mut state = self.0.unless(|state| state.items.len() >= self.0.most);
        if state.is_over {
            return false;
        }
        state.items.push_back(item);
        if state.items.len() == 1 {
            self.0.changed.notify_one();
        }
        true
    }
}

impl<T> Iterator for Receiver<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let mut state = self.0.unless(|state| state.items.is_empty());
        let item = state.items.pop_front();
        if state.items.len() + 1 == self.0.most {
            self.0.changed.notify_one();
        }
        item
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        drop(self.0.end());
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // An item may be the end of another queue: it is dropped when this one is unlocked.
        let items = take(&mut self.0.end().items);
        drop(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_arrive_in_their_order_and_none_is_lost() {
        for most in [1, 2, 1000] {
            let (sender, receiver) = queue(most);
            std::thread::scope(|scope| {
                scope.spawn(move || (0..500).for_each(|i| assert!(sender.send(i))));
                assert!(receiver.eq(0..500), "{most} at once");
            });
        }
    }

    #[test]
    fn a_sender_whose_receiver_goes_ends() {
        let (sender, receiver) = queue(1);
        std::thread::scope(|scope| {
            // The second item waits, or comes too late.
            let sent = scope.spawn(move || (0..).take_while(|i| sender.send(*i)).count());
            assert_eq!({ receiver }.next(), Some(0));
            assert!((1..=2).contains(&sent.join().expect("no panic")));
        });
    }

    /// The receiver of the inner queue would wait for ever.
    #[test]
    fn items_are_dropped_with_the_receiver() {
        let (outer, tasks) = queue(1);
        let (sender, receiver) = queue::<u8>(1);
        assert!(outer.send(sender));
        drop(tasks);
        assert_eq!(receiver.count(), 0);
        assert!(!outer.send(queue(1).0));
    }
}
