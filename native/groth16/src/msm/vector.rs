//! Affine additions eight at a time, over `lanes`; the same batches as `affine`'s.

use std::borrow::Cow;
use std::marker::PhantomData;

use group::{prime::PrimeCurveAffine as _, Curve};
use rayon::prelude::*;

use super::affine::{Affine, Coordinate};
use super::lanes::{self, Numbers, Row};
use super::pippenger::{Adder, Points, Terms};
use crate::words;

/// Vectors of eight additions that share an inversion.
const BATCH: usize = 32;

/// Where a lane's result goes if nobody wants it.
const NOWHERE: usize = usize::MAX;

/// A coordinate of K components of the base field.
pub(super) trait Components<const K: usize>: Coordinate {
    fn words(&self) -> [[u64; 6]; K];
    fn from_words(words: [[u64; 6]; K]) -> Self;
    const ONE: Self;
}

/// A point of our form in memory; all zeros are infinity.
#[derive(Clone, Copy)]
pub(super) struct Packed<const K: usize> {
    x: [Row; K],
    y: [Row; K],
}

impl<const K: usize> Packed<K> {
    const INFINITY: Self = Packed { x: [Row::ZERO; K], y: [Row::ZERO; K] };

    #[inline(always)]
    fn is_infinity(&self) -> bool {
        // A number has this limb zero but once in 2^52.
        self.x[0].0[0] == 0 && self.is_all_zeros()
    }

    fn is_all_zeros(&self) -> bool {
        self.x.iter().chain(&self.y).all(|row| *row == Row::ZERO)
    }
}

/// Eight coordinates.
type Lane<const K: usize> = [Numbers; K];

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply<const K: usize>(a: &Lane<K>, b: &Lane<K>) -> Lane<K> {
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
fn square<const K: usize>(a: &Lane<K>) -> Lane<K> {
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
fn subtract<const K: usize>(a: &Lane<K>, b: &Lane<K>) -> Lane<K> {
    let mut out = *a;
    for k in 0..K {
        out[k] = lanes::subtract(&a[k], &b[k]);
    }
    out
}

/// Eight additions that wait for the inverses of their denominators.
#[derive(Clone, Copy)]
struct Pending<const K: usize> {
    x: Lane<K>,
    y: Lane<K>,
    abscissas: Lane<K>,
    numerator: Lane<K>,
    denominator: Lane<K>,
    before: Lane<K>,
    to: [usize; 8],
}

/// A component of eight points each.
type Rows<const K: usize> = [[Row; 8]; K];

/// Operands until there are eight pairs.
struct Queue<const K: usize> {
    ax: Rows<K>,
    ay: Rows<K>,
    bx: Rows<K>,
    by: Rows<K>,
    to: [usize; 8],
    length: usize,
}

/// A batch of additions in the group `A`.
pub(super) struct VectorAdditions<A, const K: usize> {
    queue: Box<Queue<K>>,
    pending: Vec<Pending<K>>,
    product: Option<Lane<K>>,
    group: PhantomData<A>,
}

/// Bytes of a batch of additions in G2.
pub(super) const BATCH_BYTES: usize = BATCH * size_of::<Pending<2>>() + size_of::<Queue<2>>();

/// Rows of eight points' components, filled by `set`.
fn pack<const K: usize>(set: impl Fn(usize, usize) -> Row) -> Rows<K> {
    std::array::from_fn(|k| std::array::from_fn(|i| set(k, i)))
}

impl<A, const K: usize> VectorAdditions<A, K>
where
    A: Points,
    A::Coordinate: Components<K>,
{
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn take_queue(&mut self, out: &mut [Packed<K>]) {
        if self.queue.length == 0 {
            return;
        }
        // Lanes without a pair compute something whose denominator is not zero.
        for i in self.queue.length..8 {
            self.queue.to[i] = NOWHERE;
            for k in 0..K {
                self.queue.ax[k][i] = Row::ZERO;
                self.queue.bx[k][i] = Row(lanes::ONE);
            }
        }
        self.queue.length = 0;
        let load = |rows: &Rows<K>| -> Lane<K> { std::array::from_fn(|k| lanes::load(&rows[k])) };
        let (x, y) = (load(&self.queue.ax), load(&self.queue.ay));
        let (bx, by) = (load(&self.queue.bx), load(&self.queue.by));
        let mut denominator = subtract(&bx, &x);
        let equal = denominator.iter().fold(!0, |equal, part| equal & lanes::may_be_zero(part));
        if equal != 0 {
            self.add_apart(equal, out);
            let load = |rows: &Rows<K>| -> Lane<K> { std::array::from_fn(|k| lanes::load(&rows[k])) };
            denominator = subtract(&load(&self.queue.bx), &load(&self.queue.ax));
        }
        let mut abscissas = x;
        for k in 0..K {
            abscissas[k] = lanes::add_lazily(&x[k], &bx[k]);
        }
        let numerator = subtract(&by, &y);
        let before = self.product.unwrap_or(x);
        self.product = Some(match &self.product {
            Some(product) => multiply(product, &denominator),
            None => denominator,
        });
        let to = self.queue.to;
        self.pending.push(Pending { x, y, abscissas, numerator, denominator, before, to });
        if self.pending.len() == BATCH {
            self.complete(out);
        }
    }

    /// Adds the pairs of `equal` lanes, whose abscissas are equal, by complete formulas, and
    /// leaves something harmless in their place.
    #[cold]
    fn add_apart(&mut self, equal: u8, out: &mut [Packed<K>]) {
        let queue = &mut *self.queue;
        for i in (0..8).filter(|i| equal >> i & 1 == 1) {
            let rows = |rows: &Rows<K>| std::array::from_fn(|k| rows[k][i]);
            let a = Packed { x: rows(&queue.ax), y: rows(&queue.ay) };
            let b = Packed { x: rows(&queue.bx), y: rows(&queue.by) };
            let sum = (Self::export(&a).to_curve() + Self::export(&b)).to_affine();
            if let Some(out) = out.get_mut(queue.to[i]) {
                *out = import(A::view(&[sum]))[0];
            }
            queue.to[i] = NOWHERE;
            for k in 0..K {
                queue.ax[k][i] = Row::ZERO;
                queue.bx[k][i] = Row(lanes::ONE);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn complete(&mut self, out: &mut [Packed<K>]) {
        let Some(product) = self.product.take() else { return };
        let mut inverse = invert::<A::Coordinate, K>(&product);
        for (i, addition) in self.pending.iter().enumerate().rev() {
            let slope = if i == 0 {
                multiply(&inverse, &addition.numerator)
            } else {
                let own = multiply(&inverse, &addition.before);
                inverse = multiply(&inverse, &addition.denominator);
                multiply(&own, &addition.numerator)
            };
            let mut x = subtract(&square(&slope), &addition.abscissas);
            for x in &mut x {
                *x = lanes::reduce(x);
            }
            let mut y = multiply(&subtract(&addition.x, &x), &slope);
            y = subtract(&y, &addition.y);
            let mut rows = [[[Row::ZERO; 8]; K]; 2];
            for k in 0..K {
                lanes::store(&x[k], &mut rows[0][k]);
                lanes::store(&lanes::reduce(&y[k]), &mut rows[1][k]);
            }
            for (lane, &to) in addition.to.iter().enumerate() {
                if let Some(out) = out.get_mut(to) {
                    for k in 0..K {
                        out.x[k] = rows[0][k][lane];
                        out.y[k] = rows[1][k][lane];
                    }
                }
            }
        }
        self.pending.clear();
    }
}

/// The inverses of eight numbers, by one inversion.
#[target_feature(enable = "avx512f,avx512ifma")]
fn invert<F: Components<K>, const K: usize>(numbers: &Lane<K>) -> Lane<K> {
    let mut rows = [[Row::ZERO; 8]; K];
    to_blst(numbers, &mut rows);
    let values: [F; 8] = std::array::from_fn(|i| {
        F::from_words(std::array::from_fn(|k| canonical(&rows[k][i])))
    });
    // products[i] is the product of the first i values.
    let mut products = [F::ONE; 8];
    for i in 1..8 {
        products[i] = products[i - 1].mul(&values[i - 1]);
    }
    let mut inverse = products[7].mul(&values[7]).inverse();
    for i in (0..8).rev() {
        let words = inverse.mul(&products[i]).words();
        inverse = inverse.mul(&values[i]);
        for k in 0..K {
            rows[k][i] = Row(lanes::split(&words[k]));
        }
    }
    from_blst(&rows)
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn from_blst<const K: usize>(rows: &Rows<K>) -> Lane<K> {
    let factor = lanes::constant(&lanes::FROM_BLST);
    std::array::from_fn(|k| lanes::multiply(&lanes::load(&rows[k]), &factor))
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn to_blst<const K: usize>(numbers: &Lane<K>, rows: &mut Rows<K>) {
    let factor = lanes::constant(&lanes::TO_BLST);
    for k in 0..K {
        lanes::store(&lanes::multiply(&numbers[k], &factor), &mut rows[k]);
    }
}

/// A number below twice the modulus, reduced, in words.
fn canonical(row: &Row) -> [u64; 6] {
    words::reduce_once(&lanes::join(&row.0), &super::affine::MODULUS)
}

/// Up to eight points from blst's form.
#[target_feature(enable = "avx512f,avx512ifma")]
fn import_eight<F: Components<K>, const K: usize>(points: &[Affine<F>], out: &mut [Packed<K>]) {
    let infinity = Affine::INFINITY;
    let point = |i: usize| points.get(i).unwrap_or(&infinity);
    let pack = |coordinate: fn(&Affine<F>) -> F| -> Rows<K> {
        pack(|k, i| Row(lanes::split(&coordinate(point(i)).words()[k])))
    };
    let mut rows = [pack(|point| point.x), pack(|point| point.y)];
    for rows in &mut rows {
        let numbers = from_blst::<K>(rows);
        for k in 0..K {
            // Zero stays zero in all limbs, and so infinity is kept.
            lanes::store(&numbers[k], &mut rows[k]);
        }
    }
    for (i, out) in out.iter_mut().enumerate() {
        for k in 0..K {
            out.x[k] = rows[0][k][i];
            out.y[k] = rows[1][k][i];
        }
    }
}

fn import<F: Components<K>, const K: usize>(points: &[Affine<F>]) -> Vec<Packed<K>> {
    let mut out = vec![Packed::INFINITY; points.len()];
    out.par_chunks_mut(1024).zip(points.par_chunks(1024)).for_each(|(out, points)| {
        for (out, points) in out.chunks_mut(8).zip(points.chunks(8)) {
            // SAFETY: only called where `lanes::are_available`.
            unsafe { import_eight(points, out) };
        }
    });
    out
}

/// One point to blst's form.
#[target_feature(enable = "avx512f,avx512ifma")]
fn export_one<F: Components<K>, const K: usize>(point: &Packed<K>) -> Affine<F> {
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

impl<A, const K: usize> Adder for VectorAdditions<A, K>
where
    A: Points,
    A::Coordinate: Components<K>,
{
    type Group = A;
    type Point = Packed<K>;
    const INFINITY: Packed<K> = Packed::INFINITY;

    fn new() -> Self {
        let rows = [[Row::ZERO; 8]; K];
        let queue = Queue { ax: rows, ay: rows, bx: rows, by: rows, to: [NOWHERE; 8], length: 0 };
        VectorAdditions {
            queue: Box::new(queue),
            pending: Vec::with_capacity(BATCH),
            product: None,
            group: PhantomData,
        }
    }

    fn gather<'a>(points: &'a [A], terms: Terms<'_>) -> Cow<'a, [Packed<K>]> {
        let view = A::view(points);
        match terms {
            Terms::All(count) => import(&view[..count]),
            Terms::Some(terms) => {
                let chosen: Vec<_> =
                    terms.par_iter().map(|term| view[term.point as usize]).collect();
                import(&chosen)
            }
        }
        .into()
    }

    fn is_gathered() -> bool {
        true
    }

    fn is_infinity(point: &Packed<K>) -> bool {
        point.is_infinity()
    }

    /// Twice the modulus minus the ordinate, limb by limb.
    #[inline(always)]
    fn negative(point: &Packed<K>) -> Packed<K> {
        const TWICE: lanes::Limbs = lanes::modulus_times(2);
        if point.is_infinity() {
            return *point;
        }
        let mut out = *point;
        for row in &mut out.y {
            for (limb, twice) in row.0.iter_mut().zip(TWICE) {
                *limb = twice.wrapping_sub(*limb);
            }
        }
        out
    }

    #[inline(always)]
    fn push(&mut self, a: &Packed<K>, b: &Packed<K>, to: usize, out: &mut [Packed<K>]) {
        if a.is_infinity() || b.is_infinity() {
            out[to] = if a.is_infinity() { *b } else { *a };
            return;
        }
        let queue = &mut *self.queue;
        let i = queue.length % 8;
        for k in 0..K {
            queue.ax[k][i] = a.x[k];
            queue.ay[k][i] = a.y[k];
            queue.bx[k][i] = b.x[k];
            queue.by[k][i] = b.y[k];
        }
        queue.to[i] = to;
        queue.length = i + 1;
        if queue.length == 8 {
            // SAFETY: only made where `lanes::are_available`.
            unsafe { self.take_queue(out) };
        }
    }

    fn flush(&mut self, out: &mut [Packed<K>]) {
        // SAFETY: only made where `lanes::are_available`.
        unsafe {
            self.take_queue(out);
            self.complete(out);
        }
    }

    fn export(point: &Packed<K>) -> A {
        // SAFETY: only called where `lanes::are_available`.
        A::from_view(&unsafe { export_one(point) })
    }
}
