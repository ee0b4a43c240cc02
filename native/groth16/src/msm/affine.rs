//! Additions of affine points, many at a time, so that they share one inversion.
//!
//! An addition alone needs a division; a batch of them needs one for all, and then each takes
//! five multiplications and a squaring, where the projective formulas take eleven or more
//! (Montgomery's trick).

use std::borrow::Cow;

use blst::{
    blst_fp, blst_fp2, blst_fp2_eucl_inverse, blst_fp2_mul, blst_fp2_sqr, blst_fp_eucl_inverse,
    blst_fp_mul, blst_fp_sqr,
};

use super::points::{Adder, Points, Terms};
use crate::words;

/// Additions that share an inversion. An inversion takes some 50 multiplications' time.
pub(super) const BATCH: usize = 256;

/// The field's order, little-endian words.
pub(super) const MODULUS: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// One in Montgomery form: 2^384 modulo the order.
pub(super) const ONE: [u64; 6] = [
    0x7609_0000_0002_fffd,
    0xebf4_000b_c40c_0002,
    0x5f48_9857_53c7_58ba,
    0x77ce_5853_7052_5745,
    0x5c07_1a97_a256_ec6d,
    0x15f6_5ec3_fa80_e493,
];

/// A field that points have coordinates in. All values are reduced.
pub(super) trait Coordinate: Copy + Send + Sync + 'static {
    const ZERO: Self;
    fn is_zero(&self) -> bool;
    fn add(&self, other: &Self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    /// Of zero it is zero.
    fn inverse(&self) -> Self;
}

impl Coordinate for blst_fp {
    const ZERO: blst_fp = blst_fp { l: [0; 6] };

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.l.iter().fold(0, |any, word| any | word) == 0
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        // Both are below 2^381: the sum fits.
        blst_fp {
            l: words::reduce_once(&words::add(&self.l, &other.l), &MODULUS),
        }
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        blst_fp {
            l: words::subtract_modulo(&self.l, &other.l, &MODULUS),
        }
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        let mut out = Self::ZERO;
        // SAFETY: valid operands.
        unsafe { blst_fp_mul(&mut out, self, other) };
        out
    }

    #[inline(always)]
    fn square(&self) -> Self {
        let mut out = Self::ZERO;
        // SAFETY: valid operands.
        unsafe { blst_fp_sqr(&mut out, self) };
        out
    }

    fn inverse(&self) -> Self {
        let mut out = Self::ZERO;
        // SAFETY: valid operands.
        unsafe { blst_fp_eucl_inverse(&mut out, self) };
        out
    }
}

impl Coordinate for blst_fp2 {
    const ZERO: blst_fp2 = blst_fp2 {
        fp: [blst_fp::ZERO; 2],
    };

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.fp[0].is_zero() && self.fp[1].is_zero()
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        blst_fp2 {
            fp: [self.fp[0].add(&other.fp[0]), self.fp[1].add(&other.fp[1])],
        }
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        blst_fp2 {
            fp: [self.fp[0].sub(&other.fp[0]), self.fp[1].sub(&other.fp[1])],
        }
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        let mut out = Self::ZERO;
        // SAFETY: valid operands.
        unsafe { blst_fp2_mul(&mut out, self, other) };
        out
    }

    #[inline(always)]
    fn square(&self) -> Self {
        let mut out = Self::ZERO;
        // SAFETY: valid operands.
        unsafe { blst_fp2_sqr(&mut out, self) };
        out
    }

    fn inverse(&self) -> Self {
        let mut out = Self::ZERO;
        // SAFETY: valid operands.
        unsafe { blst_fp2_eucl_inverse(&mut out, self) };
        out
    }
}

/// A point, laid out as blst's affine points; (0, 0), which is on no curve here, is infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Affine<F> {
    pub(super) x: F,
    pub(super) y: F,
}

impl<F: Coordinate> Affine<F> {
    pub(super) const INFINITY: Self = Affine {
        x: F::ZERO,
        y: F::ZERO,
    };

    #[inline(always)]
    pub(super) fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    #[inline(always)]
    pub(super) fn negative(&self) -> Self {
        Affine {
            x: self.x,
            y: F::ZERO.sub(&self.y),
        }
    }
}

/// An addition that waits for the inverse of its denominator.
struct Pending<F> {
    to: usize,
    /// One of the points.
    point: Affine<F>,
    /// The sum of both abscissas.
    abscissas: F,
    numerator: F,
    denominator: F,
    /// The product of the denominators before this one.
    before: F,
}

/// A batch of additions in the group `A`, one by one.
pub(super) struct Additions<A: Points> {
    pending: Vec<Pending<A::Coordinate>>,
    product: Option<A::Coordinate>,
}

impl<A: Points> Adder for Additions<A> {
    type Group = A;
    type Point = Affine<A::Coordinate>;
    const INFINITY: Self::Point = Affine::INFINITY;

    fn new() -> Self {
        Additions {
            pending: Vec::with_capacity(BATCH),
            product: None,
        }
    }

    fn gather<'a>(points: &'a [A], _: Terms<'_>) -> Cow<'a, [Self::Point]> {
        A::view(points).into()
    }

    fn is_gathered() -> bool {
        false
    }

    fn is_infinity(point: &Self::Point) -> bool {
        point.is_infinity()
    }

    fn negative(point: &Self::Point) -> Self::Point {
        point.negative()
    }

    fn export(point: &Self::Point) -> A {
        A::from_view(point)
    }

    #[inline(always)]
    fn push(&mut self, a: &Self::Point, b: &Self::Point, to: usize, out: &mut [Self::Point]) {
        let mut denominator = b.x.sub(&a.x);
        let mut numerator = b.y.sub(&a.y);
        if a.is_infinity() || b.is_infinity() {
            out[to] = if a.is_infinity() { *b } else { *a };
            return;
        }
        if denominator.is_zero() {
            if !numerator.is_zero() || a.y.is_zero() {
                out[to] = Affine::INFINITY;
                return;
            }
            let square = a.x.square();
            numerator = square.add(&square).add(&square);
            denominator = a.y.add(&a.y);
        }
        // The first denominator has no product before it; it is never multiplied by `before`.
        let before = self.product.unwrap_or(A::Coordinate::ZERO);
        self.product = Some(match self.product {
            Some(product) => product.mul(&denominator),
            None => denominator,
        });
        self.pending.push(Pending {
            to,
            point: *a,
            abscissas: a.x.add(&b.x),
            numerator,
            denominator,
            before,
        });
        if self.pending.len() == BATCH {
            self.flush(out);
        }
    }

    fn flush(&mut self, out: &mut [Self::Point]) {
        let Some(product) = self.product.take() else {
            return;
        };
        let mut inverse = product.inverse();
        for (i, addition) in self.pending.iter().enumerate().rev() {
            let slope = if i == 0 {
                inverse.mul(&addition.numerator)
            } else {
                let own = inverse.mul(&addition.before);
                inverse = inverse.mul(&addition.denominator);
                own.mul(&addition.numerator)
            };
            let x = slope.square().sub(&addition.abscissas);
            let y = addition.point.x.sub(&x).mul(&slope).sub(&addition.point.y);
            out[addition.to] = Affine { x, y };
        }
        self.pending.clear();
    }
}

/// Bytes of a batch of additions in G2.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const BATCH_BYTES: usize = BATCH * size_of::<Pending<blst_fp2>>();

/// Bytes of a point of G2.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const POINT_BYTES: usize = size_of::<Affine<blst_fp2>>();
