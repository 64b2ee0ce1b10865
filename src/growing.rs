//! Lists whose length is not known beforehand, and the memory that they take.
//!
//! A list that doubles when it is full may hold twice the memory of its contents, which makes a forecast too inexact.
//! These lists grow by an eighth.

/// The least number of values by which a full list grows.
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

/// Bytes that a list of `values` values may take.
pub fn bytes<T>(values: f64) -> f64 {
    1.125 * values * size_of::<T>() as f64
}
