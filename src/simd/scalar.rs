//! Words that the compiler must not put into vectors.
#![allow(unsafe_code, reason = "an empty piece of assembly")]

/// The same word, kept out of vectors: the compiler cannot combine its computation with that of other words. In a chain
/// of words, a vector would cost moves into it and back at each step.
#[inline(always)]
pub fn apart(word: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut word = word;
        // SAFETY: the assembly is empty: it keeps all registers and touches no memory.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
        word
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    word
}
