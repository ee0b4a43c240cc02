//! The evaluation domain: radix-2 transforms over the roots of unity, and the quotient H.
//!
//! A transform here never permutes: the inverse one takes natural order to bit-reversed order
//! (decimation in frequency), the forward one takes it back (decimation in time). The coset's
//! shift is folded into the forward roots, the 1/n of the inverses and the division by
//! Z into the last scaling, so that H costs 7 · n/2 · log₂ n + 5·n multiplications.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;

use crate::field::Fr;

/// Blocks up to this size (128 KiB) are transformed by one task, in its core's cache.
const BLOCK: usize = 1 << 12;

/// Elements of a task in a pass over the whole domain.
const CHUNK: usize = 1 << 11;

/// The domain of `2^log_n` roots of unity. Its tables take `64 · n` bytes.
///
/// A table has the roots of every layer: for each half-size h (a power of two) the entries
/// `h .. 2h` are `w^j · s^(n/2h)` for j in `0 .. h`, with w of order 2h and the shift s of the
/// coset (1 for none).
pub(crate) struct Domain {
    log_n: u32,
    inverse: Vec<Fr>,
    coset: Vec<Fr>,
}

impl Domain {
    /// The domain of `n` elements, a power of two of at most 2^31.
    pub(crate) fn new(n: usize) -> Domain {
        let log_n = n.trailing_zeros();
        let root = root_of_unity(log_n);
        let inverse_root = root.invert().unwrap_or(Scalar::ONE);
        let (inverse, coset) = rayon::join(
            || table(log_n, inverse_root, Scalar::ONE),
            || table(log_n, root, Scalar::MULTIPLICATIVE_GENERATOR),
        );
        Domain {
            log_n,
            inverse,
            coset,
        }
    }

    fn size(&self) -> usize {
        1 << self.log_n
    }

    /// The coefficients of H = (A·B − C) / Z, as little-endian integers, given the evaluations
    /// of A, B and C over the domain. The last coefficient is zero and left out, so there are
    /// `n - 1`.
    pub(crate) fn quotient(&self, evaluations: [Vec<Scalar>; 3]) -> Vec<[u8; 32]> {
        let n = self.size();
        let [mut a, mut b, mut c] = evaluations.map(Fr::from_scalars);
        for values in [&mut a, &mut b, &mut c] {
            decimate_in_frequency(values, &self.inverse);
            decimate_in_time(values, &self.coset);
        }
        // These are n·A, n·B and n·C on the coset, and so is n²·(A·B − C).
        let scale = Fr::from(Scalar::from(n as u64));
        a.par_chunks_mut(CHUNK)
            .zip(b.par_chunks(CHUNK))
            .zip(c.par_chunks(CHUNK))
            .for_each(|((a, b), c)| {
                for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                    *a = a.mul(b).sub(&c.mul(&scale));
                }
            });
        drop((b, c));
        decimate_in_frequency(&mut a, &self.inverse);
        self.coefficients(&a)
    }

    /// Undoes the coset and every scaling, and puts the coefficients in natural order.
    fn coefficients(&self, values: &[Fr]) -> Vec<[u8; 32]> {
        let n = self.size();
        let shift = Scalar::MULTIPLICATIVE_GENERATOR;
        // Z is constant on the coset: s^n − 1, never zero.
        let z = shift.pow_vartime([n as u64]) - Scalar::ONE;
        let cubed = Scalar::from(n as u64).pow_vartime([3]);
        let scale = (z * cubed).invert().unwrap_or(Scalar::ONE);
        let unshift = shift.invert().unwrap_or(Scalar::ONE);

        // The index of position p·w + q is rev(q)·(n/w) + rev(p): its shift is a product of two.
        let width = CHUNK.min(n);
        let inner = bit_reversed_powers(&unshift, width, n / width);
        let mut out = vec![[0; 32]; n];
        let places = Scatter(out.as_mut_ptr());
        values
            .par_chunks(width)
            .enumerate()
            .for_each(|(p, values)| {
                let outer_index = reverse(p, self.log_n - width.trailing_zeros());
                // Not in Montgomery form, so that one multiplication gives the plain integer.
                let outer = Fr::from(scale * unshift.pow_vartime([outer_index as u64])).to_plain();
                for (q, (value, inner)) in values.iter().zip(&inner).enumerate() {
                    let index = reverse(q, width.trailing_zeros()) * (n / width) + outer_index;
                    let plain = value.mul(inner).mul(&outer);
                    // SAFETY: `index` is below n, and no two positions have the same.
                    unsafe { places.write(index, plain.to_le_bytes()) };
                }
            });
        out.pop();
        out
    }

    /// Lagrange coefficients of the domain at `tau`, given no power: Lᵢ(τ) for each i, that is
    /// the inverse transform of the powers of τ in natural order.
    pub(crate) fn lagrange_at(&self, tau: &Scalar) -> Vec<Scalar> {
        let n = self.size();
        let mut values = Fr::from_scalars(powers(tau, n));
        decimate_in_frequency(&mut values, &self.inverse);
        let scale = Fr::from(Scalar::from(n as u64).invert().unwrap_or(Scalar::ONE));
        let mut out = vec![Scalar::ZERO; n];
        out.par_iter_mut().enumerate().for_each(|(i, out)| {
            *out = values[reverse(i, self.log_n)].mul(&scale).into();
        });
        out
    }
}

/// Where the tasks of `coefficients` write, each to places of its own.
struct Scatter(*mut [u8; 32]);

// SAFETY: `write` is only called with distinct indices.
unsafe impl Sync for Scatter {}

impl Scatter {
    /// # Safety
    /// `index` must be in bounds and written by nobody else.
    unsafe fn write(&self, index: usize, value: [u8; 32]) {
        // SAFETY: the caller's word.
        unsafe { self.0.add(index).write(value) };
    }
}

/// A primitive root of unity of order `2^log_n`.
fn root_of_unity(log_n: u32) -> Scalar {
    let mut root = Scalar::ROOT_OF_UNITY;
    for _ in log_n..Scalar::S {
        root = root.square();
    }
    root
}

/// `bits` lowest bits of `i`, reversed.
fn reverse(i: usize, bits: u32) -> usize {
    if bits == 0 {
        0
    } else {
        i.reverse_bits() >> (usize::BITS - bits)
    }
}

/// 1, x, x², …: `n` of them.
pub(crate) fn powers(x: &Scalar, n: usize) -> Vec<Scalar> {
    let mut out = vec![Scalar::ZERO; n];
    out.par_chunks_mut(CHUNK)
        .enumerate()
        .for_each(|(i, chunk)| {
            let mut power = x.pow_vartime([(i * CHUNK) as u64]);
            for out in chunk {
                *out = power;
                power *= x;
            }
        });
    out
}

/// `x^(stride · rev(q))` for q in `0 .. width`.
fn bit_reversed_powers(x: &Scalar, width: usize, stride: usize) -> Vec<Fr> {
    let step = x.pow_vartime([stride as u64]);
    let natural = powers(&step, width);
    (0..width)
        .map(|q| Fr::from(natural[reverse(q, width.trailing_zeros())]))
        .collect()
}

/// A table of roots, see [`Domain`].
fn table(log_n: u32, root: Scalar, shift: Scalar) -> Vec<Fr> {
    let n = 1_usize << log_n;
    let mut table = vec![Fr::from(Scalar::ONE); n];
    let mut half = n / 2;
    let mut root = root;
    let mut shift = shift;
    while half > 0 {
        let roots = Fr::from_scalars(powers(&root, half));
        let shift_here = Fr::from(shift);
        table[half..2 * half]
            .par_iter_mut()
            .zip(&roots)
            .for_each(|(out, root)| {
                *out = root.mul(&shift_here);
            });
        half /= 2;
        root = root.square();
        shift = shift.square();
    }
    table
}

/// Natural order in, bit-reversed order out; unscaled.
fn decimate_in_frequency(values: &mut [Fr], table: &[Fr]) {
    let half = values.len() / 2;
    if values.len() <= BLOCK {
        let mut half = half;
        while half > 0 {
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                frequency_layer(low, high, &table[half..2 * half]);
            }
            half /= 2;
        }
        return;
    }
    let (low, high) = values.split_at_mut(half);
    low.par_chunks_mut(CHUNK)
        .zip(high.par_chunks_mut(CHUNK))
        .zip(table[half..2 * half].par_chunks(CHUNK))
        .for_each(|((low, high), roots)| frequency_layer(low, high, roots));
    rayon::join(
        || decimate_in_frequency(low, table),
        || decimate_in_frequency(high, table),
    );
}

/// Bit-reversed order in, natural order out.
fn decimate_in_time(values: &mut [Fr], table: &[Fr]) {
    if values.len() <= BLOCK {
        let mut half = 1;
        while half < values.len() {
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                time_layer(low, high, &table[half..2 * half]);
            }
            half *= 2;
        }
        return;
    }
    let half = values.len() / 2;
    let (low, high) = values.split_at_mut(half);
    rayon::join(
        || decimate_in_time(low, table),
        || decimate_in_time(high, table),
    );
    low.par_chunks_mut(CHUNK)
        .zip(high.par_chunks_mut(CHUNK))
        .zip(table[half..2 * half].par_chunks(CHUNK))
        .for_each(|((low, high), roots)| time_layer(low, high, roots));
}

#[inline]
fn frequency_layer(low: &mut [Fr], high: &mut [Fr], roots: &[Fr]) {
    for ((low, high), root) in low.iter_mut().zip(high).zip(roots) {
        let difference = low.sub(high);
        *low = low.add(high);
        *high = difference.mul(root);
    }
}

#[inline]
fn time_layer(low: &mut [Fr], high: &mut [Fr], roots: &[Fr]) {
    for ((low, high), root) in low.iter_mut().zip(high).zip(roots) {
        let product = high.mul(root);
        *high = low.sub(&product);
        *low = low.add(&product);
    }
}

#[cfg(test)]
mod tests;
