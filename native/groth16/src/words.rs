//! Multi-word integers, least significant word first, as the field elements here are made of.

/// `a + b`, which must fit.
#[inline(always)]
pub(crate) fn add<const N: usize>(a: &[u64; N], b: &[u64; N]) -> [u64; N] {
    let mut sum = [0; N];
    let mut carry = 0;
    for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
        let word = u128::from(a) + u128::from(b) + u128::from(carry);
        *sum = word as u64;
        carry = (word >> 64) as u64;
    }
    sum
}

/// `a - b` and whether it wrapped.
#[inline(always)]
pub(crate) fn subtract<const N: usize>(a: &[u64; N], b: &[u64; N]) -> ([u64; N], bool) {
    let mut difference = [0; N];
    let mut borrow = false;
    for ((difference, &a), &b) in difference.iter_mut().zip(a).zip(b) {
        let (word, first) = a.overflowing_sub(b);
        let (word, second) = word.overflowing_sub(u64::from(borrow));
        *difference = word;
        borrow = first | second;
    }
    (difference, borrow)
}

/// `a - b` modulo `modulus`; both are reduced.
#[inline(always)]
pub(crate) fn subtract_modulo<const N: usize>(
    a: &[u64; N],
    b: &[u64; N],
    modulus: &[u64; N],
) -> [u64; N] {
    let (difference, borrow) = subtract(a, b);
    let mask = 0_u64.wrapping_sub(u64::from(borrow));
    let mut out = [0; N];
    let mut carry = 0;
    for ((out, &word), &modulus) in out.iter_mut().zip(&difference).zip(modulus) {
        let word = u128::from(word) + u128::from(modulus & mask) + u128::from(carry);
        *out = word as u64;
        carry = (word >> 64) as u64;
    }
    out
}

/// A value below twice `modulus`, reduced.
#[inline(always)]
pub(crate) fn reduce_once<const N: usize>(value: &[u64; N], modulus: &[u64; N]) -> [u64; N] {
    let (reduced, borrow) = subtract(value, modulus);
    let mask = 0_u64.wrapping_sub(u64::from(borrow));
    let mut out = [0; N];
    for ((out, &value), &reduced) in out.iter_mut().zip(value).zip(&reduced) {
        *out = (value & mask) | (reduced & !mask);
    }
    out
}
