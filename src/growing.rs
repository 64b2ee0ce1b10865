//! Lists whose length nobody knows beforehand, and the memory that they take.
//!
//! A list that doubles when it is full may hold twice what is in it: too far from what can be foreseen. These grow by an eighth.

/// How much longer than a full list the next one is at least.
const STEP: usize = 8;

/// Appends a value.
#[inline(always)]
pub fn push<T>(list: &mut Vec<T>, value: T) {
    if list.len() == list.capacity() {
        grow(list);
    }
    list.push(value);
}

#[cold]
#[inline(never)]
fn grow<T>(list: &mut Vec<T>) {
    list.reserve_exact(list.len() / 8 + STEP);
}

/// Bytes that a list of so many values may take.
pub fn bytes<T>(values: f64) -> f64 {
    1.125 * values * size_of::<T>() as f64
}
