//! Pippenger's bucket method for full-width scalars, with affine buckets.
//!
//! The work is a grid: a row for each window of bits, a column for each share of the terms. A
//! tile is one cell, computed by one task of the current pool with its own buckets:
//!
//! ```text
//!               terms 0..dx   dx..2dx
//! bits 247-259  [ tile ]      [ tile ]      Σ of a row, then ×2^window down the rows
//! bits 234-246  [ tile ]      [ tile ]
//!    …
//! ```
//!
//! Within a tile the terms are sorted by bucket, and each bucket's points are added in pairs,
//! the sums in pairs again, and so on, all buckets in one batch.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::PrimeField;
use group::{prime::PrimeCurveAffine, Group};
use rayon::prelude::*;

#[cfg(not(target_arch = "x86_64"))]
use super::affine;
use super::affine::Additions;
use super::grid::{digit, share, Grid, FEW, SEGMENTS};
use super::points::{Adder, Terms};
use super::Term;
#[cfg(target_arch = "x86_64")]
use super::{lanes, packed, vector, vector::VectorAdditions};

/// How far ahead of the additions their points are asked for.
const AHEAD: usize = 32;

/// The top bit of a sorted entry: the point is to be subtracted.
const NEGATIVE: u32 = 1 << 31;

/// The projective form of an adder's points.
type Curve<D> = <<D as Adder>::Group as PrimeCurveAffine>::Curve;

/// What a task needs for its tiles, kept from one to the next.
struct Scratch<D: Adder> {
    /// The bucket of digit ±1 first.
    buckets: Vec<D::Point>,
    /// Bucket and sign of each term of a share, then the terms' points in the buckets' order.
    digits: Vec<u32>,
    sorted: Vec<u32>,
    /// Where each bucket's run starts, in `sorted` or in `sums`, and the end of the last.
    starts: Vec<u32>,
    sums: Vec<D::Point>,
    additions: D,
}

impl<D: Adder> Scratch<D> {
    fn new(window: usize) -> Self {
        Scratch {
            buckets: vec![D::INFINITY; 1 << (window - 1)],
            digits: Vec::new(),
            sorted: Vec::new(),
            starts: Vec::new(),
            sums: Vec::new(),
            additions: D::new(),
        }
    }

    /// Sorts terms by bucket. Those of digit zero are left out.
    fn sort(
        &mut self,
        terms: Terms<'_>,
        range: std::ops::Range<usize>,
        digit: impl Fn(usize) -> i32,
    ) {
        let count = self.buckets.len();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        self.digits.clear();
        for i in range.clone() {
            let digit = digit(terms.get(i).1);
            let bucket = digit.unsigned_abs();
            let sign = if digit < 0 { NEGATIVE } else { 0 };
            self.digits.push(bucket | sign);
            if bucket > 0 {
                self.starts[bucket as usize] += 1;
            }
        }
        // Counts become ends, and, as the terms are put in from the last, starts.
        for i in 1..=count {
            self.starts[i] += self.starts[i - 1];
        }
        let total = self.starts[count] as usize;
        self.sorted.clear();
        self.sorted.resize(total, 0);
        for (i, &digit) in range.zip(&self.digits).rev() {
            let bucket = (digit & !NEGATIVE) as usize;
            if bucket > 0 {
                self.starts[bucket] -= 1;
                let point = if D::is_gathered() { i } else { terms.get(i).0 };
                self.sorted[self.starts[bucket] as usize] = point as u32 | digit & NEGATIVE;
            }
        }
        // `starts[b]` is now the start of bucket b's run, b from 1; shift it to b − 1.
        self.starts.rotate_left(1);
        self.starts[count] = total as u32;
    }

    /// Adds the sorted terms' points to the buckets.
    fn fill(&mut self, points: &[D::Point]) {
        let buckets = self.buckets.len();
        let Scratch {
            sorted,
            starts,
            sums,
            additions,
            ..
        } = self;
        let signed = |entry: u32| (&points[(entry & !NEGATIVE) as usize], entry & NEGATIVE != 0);
        // The first round reads the points, the bucket's own among them. What is in `sums` from
        // before is never read.
        sums.resize(sums.len().max(sorted.len() / 2 + buckets + 1), D::INFINITY);
        let mut to = 0;
        let mut longest = 0;
        for bucket in 0..buckets {
            let (mut from, end) = (starts[bucket] as usize, starts[bucket + 1] as usize);
            starts[bucket] = to as u32;
            let held = &self.buckets[bucket];
            match (D::is_infinity(held), (end - from) % 2 == 1) {
                (true, false) => {}
                (true, true) => {
                    let (point, negative) = signed(sorted[from]);
                    sums[to] = if negative { D::negative(point) } else { *point };
                    (from, to) = (from + 1, to + 1);
                }
                (false, true) => {
                    additions.push_signed((held, false), signed(sorted[from]), to, sums);
                    (from, to) = (from + 1, to + 1);
                }
                (false, false) => {
                    sums[to] = *held;
                    to += 1;
                }
            }
            while from < end {
                for &ahead in sorted.iter().skip(from + AHEAD).take(2) {
                    D::prefetch(signed(ahead).0);
                }
                let (a, b) = (signed(sorted[from]), signed(sorted[from + 1]));
                additions.push_signed(a, b, to, sums);
                (from, to) = (from + 2, to + 1);
            }
            longest = longest.max(to - starts[bucket] as usize);
        }
        starts[buckets] = to as u32;
        additions.flush(sums);
        // The others halve the runs in place.
        while longest > 1 {
            longest = 0;
            let mut to = 0;
            for bucket in 0..buckets {
                let (start, end) = (starts[bucket] as usize, starts[bucket + 1] as usize);
                starts[bucket] = to as u32;
                let mut from = start;
                if (end - start) % 2 == 1 {
                    sums[to] = sums[from];
                    (from, to) = (from + 1, to + 1);
                }
                while from < end {
                    let (a, b) = (sums[from], sums[from + 1]);
                    additions.push(&a, &b, to, sums);
                    (from, to) = (from + 2, to + 1);
                }
                longest = longest.max(to - starts[bucket] as usize);
            }
            starts[buckets] = to as u32;
            additions.flush(sums);
        }
        for (bucket, held) in self.buckets.iter_mut().enumerate() {
            if self.starts[bucket] < self.starts[bucket + 1] {
                *held = self.sums[self.starts[bucket] as usize];
            }
        }
    }
}

/// Σ (i + 1) · bucketᵢ; the buckets are infinities afterwards.
///
/// Segments of `m` buckets go through it at once, so that their additions make batches: each
/// yields its plain sum R and its weighted sum T, and the whole is Σ Tⱼ + m · Σ j · Rⱼ.
fn integrate<D: Adder>(scratch: &mut Scratch<D>) -> Curve<D> {
    let Scratch {
        buckets, additions, ..
    } = scratch;
    let segments = buckets.len().min(SEGMENTS);
    let m = buckets.len() / segments;
    let mut plain = vec![D::INFINITY; segments];
    let mut weighted = vec![D::INFINITY; segments];
    for step in (0..m).rev() {
        for j in 0..segments {
            let sum = plain[j];
            additions.push(&sum, &buckets[j * m + step], j, &mut plain);
        }
        additions.flush(&mut plain);
        for (j, plain) in plain.iter().enumerate() {
            let sum = weighted[j];
            additions.push(&sum, plain, j, &mut weighted);
        }
        additions.flush(&mut weighted);
    }
    buckets.fill(D::INFINITY);

    let mut sum = Curve::<D>::identity();
    let mut by_index = Curve::<D>::identity();
    for j in (1..segments).rev() {
        sum += D::export(&plain[j]);
        by_index += sum;
    }
    for _ in 0..m.trailing_zeros() {
        by_index = by_index.double();
    }
    weighted
        .iter()
        .fold(by_index, |total, point| total + D::export(point))
}

/// Bytes of the scratch of a multiplication by `threads` threads, at most, if it has at most `terms`
/// terms and the coordinates have so many components: 1 in G1, 2 in G2.
pub(super) fn scratch_bytes(components: usize, terms: usize, threads: usize) -> u64 {
    #[cfg(target_arch = "x86_64")]
    let (point, batch) = (packed::POINT_BYTES, vector::BATCH_BYTES);
    #[cfg(not(target_arch = "x86_64"))]
    let (point, batch) = (affine::POINT_BYTES, affine::BATCH_BYTES);
    let point = point * components / 2;
    let terms = terms.min(SLAB);
    let window = Grid::for_terms(terms, threads).window;
    let (share, buckets) = (share(window).min(terms), 1 << (window - 1));
    let sorting = size_of::<u32>() * (2 * share + buckets);
    let segments = 2 * SEGMENTS.min(buckets);
    let task = point * (share / 2 + 2 * buckets + segments) + sorting + batch;
    (point * terms + threads * task) as u64
}

pub(super) fn multiply_with<D: Adder>(
    points: &[D::Group],
    terms: Terms<'_>,
    scalars: &[[u8; 32]],
) -> Curve<D>
where
    Curve<D>: Send,
{
    let count = terms.len();
    if count < FEW {
        let product = |i| {
            let (point, scalar) = terms.get(i);
            // Below the order wherever this crate made it.
            let scalar = Scalar::from_repr_vartime(scalars[scalar]).unwrap_or_default();
            points[point] * scalar
        };
        return (0..count).map(product).sum();
    }
    let gathered = D::gather(points, terms);
    let Grid {
        window,
        rows,
        columns,
    } = Grid::for_terms(count, rayon::current_num_threads());
    let tiles: Vec<Curve<D>> = (0..rows * columns)
        .into_par_iter()
        .with_max_len(1)
        .map_init(
            || Scratch::<D>::new(window),
            |scratch, tile| {
                let (row, column) = (tile / columns, tile % columns);
                let end = (column + 1) * count / columns;
                let mut start = column * count / columns;
                while start < end {
                    let range = start..end.min(start + share(window));
                    start = range.end;
                    scratch.sort(terms, range, |scalar| {
                        digit(&scalars[scalar], row * window, window)
                    });
                    scratch.fill(&gathered);
                }
                integrate::<D>(scratch)
            },
        )
        .collect();
    let mut total = Curve::<D>::identity();
    for row in tiles.chunks(columns).rev() {
        for _ in 0..window {
            total = total.double();
        }
        for tile in row {
            total += tile;
        }
    }
    total
}

/// Terms of a slab: what is gathered at once.
const SLAB: usize = 1 << 20;

/// Σ in G1, by the fastest way that this processor has.
fn multiply_g1(points: &[G1Affine], terms: Terms<'_>, scalars: &[[u8; 32]]) -> G1Projective {
    #[cfg(target_arch = "x86_64")]
    if lanes::are_available() {
        return multiply_with::<VectorAdditions<G1Affine, 1>>(points, terms, scalars);
    }
    multiply_with::<Additions<G1Affine>>(points, terms, scalars)
}

/// Σ in G2, by the fastest way that this processor has.
fn multiply_g2(points: &[G2Affine], terms: Terms<'_>, scalars: &[[u8; 32]]) -> G2Projective {
    #[cfg(target_arch = "x86_64")]
    if lanes::are_available() {
        return multiply_with::<VectorAdditions<G2Affine, 2>>(points, terms, scalars);
    }
    multiply_with::<Additions<G2Affine>>(points, terms, scalars)
}

/// Σ over `terms` in G1.
pub(super) fn g1(points: &[G1Affine], terms: &[Term], scalars: &[[u8; 32]]) -> G1Projective {
    terms
        .chunks(SLAB)
        .map(|terms| multiply_g1(points, Terms::Some(terms), scalars))
        .sum()
}

/// Σ over `terms` in G2.
pub(super) fn g2(points: &[G2Affine], terms: &[Term], scalars: &[[u8; 32]]) -> G2Projective {
    terms
        .chunks(SLAB)
        .map(|terms| multiply_g2(points, Terms::Some(terms), scalars))
        .sum()
}

/// Σ scalarᵢ · pointᵢ in G1; the shorter list decides.
pub(super) fn g1_full(points: &[G1Affine], scalars: &[[u8; 32]]) -> G1Projective {
    points
        .chunks(SLAB)
        .zip(scalars.chunks(SLAB))
        .map(|(points, scalars)| {
            multiply_g1(points, Terms::All(points.len().min(scalars.len())), scalars)
        })
        .sum()
}
