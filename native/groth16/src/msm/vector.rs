//! Affine additions eight at a time, over `lanes`; the same batches as `affine`'s.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::slice;

use group::Curve;

use super::lanes::{self, Row};
use super::packed::{
    column, export_one, import, invert, multiply, square, subtract, Components, Lane, Packed, Rows,
};
use super::points::{Adder, Points, Terms};

/// Vectors of eight additions that share an inversion.
const BATCH: usize = 32;

/// Where a lane's result goes if nobody wants it.
const NOWHERE: usize = usize::MAX;

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

/// Operands until there are eight pairs.
struct Queue<const K: usize> {
    ax: Rows<K>,
    ay: Rows<K>,
    bx: Rows<K>,
    by: Rows<K>,
    /// A bit for each point that is to be negated first.
    minus_a: u8,
    minus_b: u8,
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
        let (x, bx) = (load(&self.queue.ax), load(&self.queue.bx));
        let y = load(&self.queue.ay).map(|y| lanes::negate(&y, self.queue.minus_a));
        let by = load(&self.queue.by).map(|y| lanes::negate(&y, self.queue.minus_b));
        let mut denominator = subtract(&bx, &x);
        let equal = denominator
            .iter()
            .fold(!0, |equal, part| equal & lanes::may_be_zero(part));
        if equal != 0 {
            self.add_apart(equal, out);
            let load =
                |rows: &Rows<K>| -> Lane<K> { std::array::from_fn(|k| lanes::load(&rows[k])) };
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
        (self.queue.minus_a, self.queue.minus_b) = (0, 0);
        let to = self.queue.to;
        self.pending.push(Pending {
            x,
            y,
            abscissas,
            numerator,
            denominator,
            before,
            to,
        });
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
            let rows = |rows| column(rows, i);
            let a = Packed {
                x: rows(&queue.ax),
                y: rows(&queue.ay),
            };
            let b = Packed {
                x: rows(&queue.bx),
                y: rows(&queue.by),
            };
            let signed = |point, minus: u8| match minus >> i & 1 {
                0 => Self::export(&point),
                _ => -Self::export(&point),
            };
            let sum = (signed(a, queue.minus_a).to_curve() + signed(b, queue.minus_b)).to_affine();
            if let Some(out) = out.get_mut(queue.to[i]) {
                *out = import(1, |_| &A::view(slice::from_ref(&sum))[0])[0];
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
        let Some(product) = self.product.take() else {
            return;
        };
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
                    (out.x, out.y) = (column(&rows[0], lane), column(&rows[1], lane));
                }
            }
        }
        self.pending.clear();
    }
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
        let queue = Queue {
            ax: rows,
            ay: rows,
            bx: rows,
            by: rows,
            minus_a: 0,
            minus_b: 0,
            to: [NOWHERE; 8],
            length: 0,
        };
        VectorAdditions {
            queue: Box::new(queue),
            pending: Vec::with_capacity(BATCH),
            product: None,
            group: PhantomData,
        }
    }

    fn gather<'a>(points: &'a [A], terms: Terms<'_>) -> Cow<'a, [Packed<K>]> {
        let view = A::view(points);
        import(terms.len(), |i| &view[terms.get(i).0]).into()
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
        self.push_signed((a, false), (b, false), to, out);
    }

    #[inline(always)]
    fn prefetch(point: &Packed<K>) {
        lanes::prefetch(&point.x);
        lanes::prefetch(&point.y);
    }

    #[inline(always)]
    fn push_signed(
        &mut self,
        (a, minus_a): (&Packed<K>, bool),
        (b, minus_b): (&Packed<K>, bool),
        to: usize,
        out: &mut [Packed<K>],
    ) {
        if a.is_infinity() || b.is_infinity() {
            let (point, minus) = if a.is_infinity() {
                (b, minus_b)
            } else {
                (a, minus_a)
            };
            out[to] = if minus { Self::negative(point) } else { *point };
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
        queue.minus_a |= u8::from(minus_a) << i;
        queue.minus_b |= u8::from(minus_b) << i;
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
