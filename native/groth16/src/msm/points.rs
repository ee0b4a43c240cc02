//! What the bucket method asks of a group and of a way to add its points.

use std::borrow::Cow;
use std::slice;

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G2Affine, Scalar};
use group::prime::PrimeCurveAffine;

use super::affine::{self, Affine, Coordinate};
#[cfg(target_arch = "x86_64")]
use super::packed;
use super::Term;

/// A group with coordinates of its own.
pub(super) trait Points: PrimeCurveAffine<Scalar = Scalar> + Send + Sync {
    type Coordinate: Coordinate;
    fn view(points: &[Self]) -> &[Affine<Self::Coordinate>];
    fn from_view(point: &Affine<Self::Coordinate>) -> Self;
}

#[cfg(target_arch = "x86_64")]
impl packed::Components<1> for blst_fp {
    const ONE: blst_fp = blst_fp { l: affine::ONE };

    fn words(&self) -> [[u64; 6]; 1] {
        [self.l]
    }

    fn from_words([l]: [[u64; 6]; 1]) -> Self {
        blst_fp { l }
    }
}

#[cfg(target_arch = "x86_64")]
impl packed::Components<2> for blst_fp2 {
    const ONE: blst_fp2 = blst_fp2 {
        fp: [blst_fp { l: affine::ONE }, blst_fp::ZERO],
    };

    fn words(&self) -> [[u64; 6]; 2] {
        [self.fp[0].l, self.fp[1].l]
    }

    fn from_words([a, b]: [[u64; 6]; 2]) -> Self {
        blst_fp2 {
            fp: [blst_fp { l: a }, blst_fp { l: b }],
        }
    }
}

impl Points for G1Affine {
    type Coordinate = blst_fp;

    fn view(points: &[Self]) -> &[Affine<blst_fp>] {
        // SAFETY: both are two coordinates, x first.
        unsafe { slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
    }

    fn from_view(point: &Affine<blst_fp>) -> Self {
        let mut out = G1Affine::identity();
        *out.as_mut() = blst_p1_affine {
            x: point.x,
            y: point.y,
        };
        out
    }
}

impl Points for G2Affine {
    type Coordinate = blst_fp2;

    fn view(points: &[Self]) -> &[Affine<blst_fp2>] {
        // SAFETY: as for `G1Affine`.
        unsafe { slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
    }

    fn from_view(point: &Affine<blst_fp2>) -> Self {
        let mut out = G2Affine::identity();
        *out.as_mut() = blst_p2_affine {
            x: point.x,
            y: point.y,
        };
        out
    }
}

/// A batch of additions. What is pushed has its result in `out` after the next flush; operands are
/// copied, so a result may take the place of any operand that was pushed.
pub(super) trait Adder {
    type Group: Points;
    /// A point as it is held in memory.
    type Point: Copy + Send + Sync + 'static;
    const INFINITY: Self::Point;

    fn new() -> Self;
    /// The points to take terms from: all of them, or, if `is_gathered`, those of the terms in the
    /// terms' order.
    fn gather<'a>(points: &'a [Self::Group], terms: Terms<'_>) -> Cow<'a, [Self::Point]>;
    fn is_gathered() -> bool;
    fn is_infinity(point: &Self::Point) -> bool;
    fn negative(point: &Self::Point) -> Self::Point;
    /// Asks for the point to be brought near.
    fn prefetch(_: &Self::Point) {}
    /// As `push`, of points that are to be negated first where it says so.
    fn push_signed(
        &mut self,
        a: (&Self::Point, bool),
        b: (&Self::Point, bool),
        to: usize,
        out: &mut [Self::Point],
    ) {
        let [a, b] = [a, b].map(|(point, negative)| match negative {
            true => Self::negative(point),
            false => *point,
        });
        self.push(&a, &b, to, out);
    }
    /// `out[to] = a + b`, now or at the next flush.
    fn push(&mut self, a: &Self::Point, b: &Self::Point, to: usize, out: &mut [Self::Point]);
    /// Completes all additions.
    fn flush(&mut self, out: &mut [Self::Point]);
    fn export(point: &Self::Point) -> Self::Group;
}

/// Which of the points and scalars a multiplication takes.
#[derive(Clone, Copy)]
pub(super) enum Terms<'a> {
    /// Each point with the scalar of the same index; so many.
    All(usize),
    Some(&'a [Term]),
}

impl Terms<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Terms::All(count) => *count,
            Terms::Some(terms) => terms.len(),
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> (usize, usize) {
        match self {
            Terms::All(_) => (i, i),
            Terms::Some(terms) => (terms[i].point as usize, terms[i].scalar as usize),
        }
    }
}
