//! Lists whose length is not known beforehand, and the memory that they take.
//!
//! A list that doubles when it is full may take twice the memory of its contents, too much for an accurate forecast.
//! These lists grow by an eighth.

/// The least number of values by which a full list grows.
const STEP: usize = 8;

/// Appends a value.
#[inline(always)]
pub fn push<T>(list: &mut Vec<T>, value: T) {
    if list.len() == list.capacity() {
        grow(list, 1);
    }
    list.push(value);
}

/// Appends a list.
pub fn append<T>(list: &mut Vec<T>, mut other: Vec<T>) {
    if list.capacity() - list.len() < other.len() {
        grow(list, other.len());
    }
    list.append(&mut other);
}

/// Makes room for at least `values` more values.
#[cold]
#[inline(never)]
fn grow<T>(list: &mut Vec<T>, values: usize) {
    list.reserve_exact(values.max(list.len() / 8 + STEP));
}

/// Bytes that a list of `values` values may take.
pub fn bytes<T>(values: f64) -> f64 {
    1.125 * values * size_of::<T>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each time a list grows, its contents may be copied.
    #[test]
    fn lists_are_appended_without_many_copies_and_without_much_room() {
        let (mut list, mut copies) = (Vec::new(), 0);
        for n in 0..10_000u64 {
            let before = list.capacity();
            append(&mut list, vec![n; 3]);
            copies += usize::from(list.capacity() != before);
            assert!(list.capacity() <= list.len() + list.len() / 8 + STEP);
        }
        assert!(copies < 100, "{copies}");
        append(&mut list, vec![0; 20_000]);
        assert_eq!(list.capacity(), 50_000);
    }
}
