//! Many multiples of one point: a table of its multiples, signed windows of the scalar.

use std::ops::AddAssign;
use std::ptr;

use blst::{
    blst_p1, blst_p1_affine, blst_p1s_to_affine, blst_p2, blst_p2_affine, blst_p2s_to_affine,
};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::{
    prime::{PrimeCurve, PrimeCurveAffine},
    Curve,
};
use rayon::prelude::*;

/// Bits of a scalar: the order of the groups is below 2^255.
const SCALAR_BITS: usize = 255;

/// The table has, for each window of bits, the multiples 1 to 2^(window-1) of the base shifted
/// to that window.
pub(super) struct FixedBase<C: PrimeCurve> {
    window: usize,
    rows: Vec<Vec<C::Affine>>,
}

impl<C> FixedBase<C>
where
    C: PrimeCurve<Scalar = Scalar> + AddAssign<<C as PrimeCurve>::Affine>,
    C: Normalise<AffineRepr = <C as PrimeCurve>::Affine>,
    <C as PrimeCurve>::Affine: Send + Sync,
{
    /// A table that suits `count` multiplications: fewest additions, the table's included.
    pub(super) fn new(base: &C, count: usize) -> FixedBase<C> {
        let additions = |window: &usize| (SCALAR_BITS / window + 1) * (count + (2 << window));
        let window = (2..=16).min_by_key(additions).unwrap_or(8);
        let mut shifted = vec![*base];
        for _ in 0..SCALAR_BITS / window {
            let mut next = shifted[shifted.len() - 1];
            for _ in 0..window {
                next = next.double();
            }
            shifted.push(next);
        }
        let rows = shifted
            .par_iter()
            .map(|base| {
                let affine = base.to_affine();
                let mut multiple = C::identity();
                let row: Vec<C> = (0..1 << (window - 1))
                    .map(|_| {
                        multiple += affine;
                        multiple
                    })
                    .collect();
                C::normalise(&row)
            })
            .collect();
        FixedBase { window, rows }
    }

    /// `scalar · base`.
    pub(super) fn multiply(&self, scalar: &Scalar) -> C {
        let bytes = scalar.to_bytes_le();
        let mut sum = C::identity();
        let mut carry = 0;
        for (i, row) in self.rows.iter().enumerate() {
            let digit = bits(&bytes, i * self.window, self.window) + carry;
            // Digits above half a window become negative and carry into the next.
            if digit > 1 << (self.window - 1) {
                carry = 1;
                let magnitude = (1 << self.window) - digit;
                if magnitude > 0 {
                    sum += -row[magnitude - 1];
                }
            } else {
                carry = 0;
                if digit > 0 {
                    sum += row[digit - 1];
                }
            }
        }
        sum
    }
}

/// A group whose points blst takes to affine form many at a time, by one inversion.
pub(super) trait Normalise: Curve {
    fn normalise(points: &[Self]) -> Vec<Self::AffineRepr>;
}

impl Normalise for G1Projective {
    fn normalise(points: &[Self]) -> Vec<G1Affine> {
        let mut affine = vec![G1Affine::identity(); points.len()];
        let list = [points.as_ptr().cast::<blst_p1>(), ptr::null()];
        if !points.is_empty() {
            // SAFETY: both types are transparent over blst's, and there are as many of each.
            unsafe {
                let out = affine.as_mut_ptr().cast::<blst_p1_affine>();
                blst_p1s_to_affine(out, list.as_ptr(), points.len());
            }
        }
        affine
    }
}

impl Normalise for G2Projective {
    fn normalise(points: &[Self]) -> Vec<G2Affine> {
        let mut affine = vec![G2Affine::identity(); points.len()];
        let list = [points.as_ptr().cast::<blst_p2>(), ptr::null()];
        if !points.is_empty() {
            // SAFETY: as for G1.
            unsafe {
                let out = affine.as_mut_ptr().cast::<blst_p2_affine>();
                blst_p2s_to_affine(out, list.as_ptr(), points.len());
            }
        }
        affine
    }
}

/// `count` bits from bit `from` of a little-endian integer; zeros past its end.
fn bits(bytes: &[u8; 32], from: usize, count: usize) -> usize {
    let mut word = 0_u64;
    for (i, &byte) in bytes.iter().skip(from / 8).take(4).enumerate() {
        word |= u64::from(byte) << (8 * i);
    }
    (word >> (from % 8)) as usize & ((1 << count) - 1)
}
