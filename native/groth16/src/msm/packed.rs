//! Points and coordinates eight at a time: the arithmetic of `lanes` for one component (G1) or two
//! (G2), and the way from blst's form and back.

use rayon::prelude::*;

use super::affine::{self, Affine, Coordinate};
use super::lanes::{self, Numbers, Row};
use crate::words;

/// A coordinate of K components of the base field.
pub(super) trait Components<const K: usize>: Coordinate {
    fn words(&self) -> [[u64; 6]; K];
    fn from_words(words: [[u64; 6]; K]) -> Self;
    const ONE: Self;
}

/// A point of our form in memory; all zeros are infinity.
#[derive(Clone, Copy)]
pub(super) struct Packed<const K: usize> {
    pub(super) x: [Row; K],
    pub(super) y: [Row; K],
}

impl<const K: usize> Packed<K> {
    pub(super) const INFINITY: Self = Packed {
        x: [Row::ZERO; K],
        y: [Row::ZERO; K],
    };

    #[inline(always)]
    pub(super) fn is_infinity(&self) -> bool {
        // A number has this limb zero but once in 2^52.
        self.x[0].0[0] == 0 && self.is_all_zeros()
    }

    fn is_all_zeros(&self) -> bool {
        self.x.iter().chain(&self.y).all(|row| *row == Row::ZERO)
    }
}

/// Eight coordinates.
pub(super) type Lane<const K: usize> = [Numbers; K];

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply<const K: usize>(a: &Lane<K>, b: &Lane<K>) -> Lane<K> {
    let mut out = *a;
    if K == 1 {
        out[0] = lanes::multiply(&a[0], &b[0]);
    } else {
        // (a₀ + a₁u)(b₀ + b₁u) with u² = −1, by Karatsuba.
        let low = lanes::multiply(&a[0], &b[0]);
        let high = lanes::multiply(&a[1], &b[1]);
        let sums = lanes::multiply(&lanes::add(&a[0], &a[1]), &lanes::add(&b[0], &b[1]));
        out[0] = lanes::subtract(&low, &high);
        out[1] = lanes::subtract(&sums, &lanes::add_lazily(&low, &high));
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn square<const K: usize>(a: &Lane<K>) -> Lane<K> {
    let mut out = *a;
    if K == 1 {
        out[0] = lanes::multiply(&a[0], &a[0]);
    } else {
        // (a₀ + a₁)(a₀ − a₁) and 2 a₀ a₁; b below 8p of `subtract` wants a₁ reduced.
        let a1 = lanes::reduce(&a[1]);
        out[0] = lanes::multiply(&lanes::add(&a[0], &a1), &lanes::subtract(&a[0], &a1));
        let product = lanes::multiply(&a[0], &a1);
        out[1] = lanes::add(&product, &product);
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn subtract<const K: usize>(a: &Lane<K>, b: &Lane<K>) -> Lane<K> {
    let mut out = *a;
    for k in 0..K {
        out[k] = lanes::subtract(&a[k], &b[k]);
    }
    out
}

/// A component of eight points each.
pub(super) type Rows<const K: usize> = [[Row; 8]; K];

/// One point's components.
pub(super) fn column<const K: usize>(rows: &Rows<K>, lane: usize) -> [Row; K] {
    std::array::from_fn(|k| rows[k][lane])
}

/// Rows of eight points' components, filled by `set`.
pub(super) fn pack<const K: usize>(set: impl Fn(usize, usize) -> Row) -> Rows<K> {
    std::array::from_fn(|k| std::array::from_fn(|i| set(k, i)))
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn from_blst<const K: usize>(rows: &Rows<K>) -> Lane<K> {
    let factor = lanes::constant(&lanes::FROM_BLST);
    std::array::from_fn(|k| lanes::multiply(&lanes::load(&rows[k]), &factor))
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn to_blst<const K: usize>(numbers: &Lane<K>, rows: &mut Rows<K>) {
    let factor = lanes::constant(&lanes::TO_BLST);
    for k in 0..K {
        lanes::store(&lanes::multiply(&numbers[k], &factor), &mut rows[k]);
    }
}

/// A number below twice the modulus, reduced, in words.
pub(super) fn canonical(row: &Row) -> [u64; 6] {
    words::reduce_once(&lanes::join(&row.0), &affine::MODULUS)
}

/// Up to eight points from blst's form.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn import_eight<'a, F: Components<K>, const K: usize>(
    point: &impl Fn(usize) -> &'a Affine<F>,
    start: usize,
    out: &mut [Packed<K>],
) {
    let mut rows = [[[Row::ZERO; 8]; K]; 2];
    for i in 0..out.len() {
        let point = point(start + i);
        for (rows, coordinate) in rows.iter_mut().zip([&point.x, &point.y]) {
            for (rows, words) in rows.iter_mut().zip(coordinate.words()) {
                rows[i] = Row(lanes::split(&words));
            }
        }
    }
    for rows in &mut rows {
        // Zero stays zero in all limbs, and so infinity is kept.
        let numbers = from_blst::<K>(rows);
        for k in 0..K {
            lanes::store(&numbers[k], &mut rows[k]);
        }
    }
    for (i, out) in out.iter_mut().enumerate() {
        (out.x, out.y) = (column(&rows[0], i), column(&rows[1], i));
    }
}

/// `count` points from blst's form.
pub(super) fn import<'a, F: Components<K>, const K: usize>(
    count: usize,
    point: impl Fn(usize) -> &'a Affine<F> + Sync,
) -> Vec<Packed<K>> {
    let mut out = vec![Packed::INFINITY; count];
    out.par_chunks_mut(1024).enumerate().for_each(|(i, chunk)| {
        for (j, eight) in chunk.chunks_mut(8).enumerate() {
            // SAFETY: only called where `lanes::are_available`.
            unsafe { import_eight(&point, 1024 * i + 8 * j, eight) };
        }
    });
    out
}

/// One point to blst's form.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn export_one<F: Components<K>, const K: usize>(point: &Packed<K>) -> Affine<F> {
    let mut coordinates = [point.x, point.y].map(|rows| {
        let mut rows: Rows<K> = pack(|k, _| rows[k]);
        let mut numbers: Lane<K> = std::array::from_fn(|k| lanes::load(&rows[k]));
        for number in &mut numbers {
            // The ordinate of a negative has limbs that are not carried.
            *number = lanes::reduce(&lanes::carry(*number));
        }
        to_blst(&numbers, &mut rows);
        F::from_words(std::array::from_fn(|k| canonical(&rows[k][0])))
    });
    let [x, y] = &mut coordinates;
    Affine { x: *x, y: *y }
}

/// The inverses of eight numbers, by one inversion.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn invert<F: Components<K>, const K: usize>(numbers: &Lane<K>) -> Lane<K> {
    let mut rows = [[Row::ZERO; 8]; K];
    to_blst(numbers, &mut rows);
    let values: [F; 8] =
        std::array::from_fn(|i| F::from_words(std::array::from_fn(|k| canonical(&rows[k][i]))));
    // products[i] is the product of the first i values.
    let mut products = [F::ONE; 8];
    for i in 1..8 {
        products[i] = products[i - 1].mul(&values[i - 1]);
    }
    let mut inverse = products[7].mul(&values[7]).inverse();
    for i in (0..8).rev() {
        let words = inverse.mul(&products[i]).words();
        inverse = inverse.mul(&values[i]);
        for (rows, words) in rows.iter_mut().zip(&words) {
            rows[i] = Row(lanes::split(words));
        }
    }
    from_blst(&rows)
}

/// Bytes of a point of G2.
pub(super) const POINT_BYTES: usize = size_of::<Packed<2>>();
