//! Multi-scalar multiplication: Σ scalarᵢ · pointᵢ over one of the parameters' queries.
//!
//! Witnesses are mostly zeros and ones. Zeros are dropped and ones are summed apart, by batched
//! affine addition; only the rest goes through Pippenger's buckets. Everything computes on the
//! current rayon pool: blst's own thread pool is never woken.

mod affine;
mod grid;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod packed;
mod pippenger;
mod points;
mod sum;
#[cfg(target_arch = "x86_64")]
mod vector;

use std::ops::Range;

use blst::{blst_p1, blst_p2};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::{Field, PrimeField};
use group::Group;
use rayon::prelude::*;

/// One scalar of a query: which point it multiplies, and where the scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) point: u32,
    pub(crate) scalar: u32,
}

/// A query's scalars, without those that are zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    /// Points whose scalar is one.
    pub(crate) ones: Vec<u32>,
    /// The others.
    pub(crate) full: Vec<Term>,
}

impl Query {
    pub(crate) fn bytes(&self) -> usize {
        4 * self.ones.capacity() + 8 * self.full.capacity()
    }
}

/// The variables of a partition, each marked as zero, one or full-width.
pub(crate) struct Variables {
    /// `ZERO`, `ONE`, or the index in `full` plus `FULL`.
    class: Vec<u32>,
    full: Vec<[u8; 32]>,
}

const ZERO: u32 = 0;
const ONE: u32 = 1;
const FULL: u32 = 2;

impl Variables {
    /// Classifies the public variables, then the private ones.
    pub(crate) fn classify(inputs: &[Scalar], aux: &[Scalar]) -> Variables {
        let mut full = Vec::new();
        let class = inputs
            .iter()
            .chain(aux)
            .map(|value| {
                if value.is_zero_vartime() {
                    ZERO
                } else if *value == Scalar::ONE {
                    ONE
                } else {
                    full.push(value);
                    full.len() as u32 - 1 + FULL
                }
            })
            .collect();
        let full = full.par_iter().map(|value| value.to_repr()).collect();
        Variables { class, full }
    }

    /// The query over the variables of `range` that occur in it. Its points belong to the
    /// occurring variables in order: one that does not occur has no point.
    pub(crate) fn query(&self, range: Range<usize>, occurs: impl Fn(usize) -> bool) -> Query {
        let mut query = Query::default();
        let mut point = 0;
        for (i, &class) in range.clone().zip(&self.class[range]) {
            if !occurs(i) {
                continue;
            }
            match class {
                ZERO => {}
                ONE => query.ones.push(point),
                full => query.full.push(Term {
                    point,
                    scalar: full - FULL,
                }),
            }
            point += 1;
        }
        query.ones.shrink_to_fit();
        query.full.shrink_to_fit();
        query
    }

    /// The full-width scalars that the queries' terms point to.
    pub(crate) fn into_full(self) -> Vec<[u8; 32]> {
        self.full
    }
}

/// The sum of a query in G1.
pub(crate) fn g1(points: &[G1Affine], query: &Query, scalars: &[[u8; 32]]) -> G1Projective {
    let (ones, full) = rayon::join(
        || sum::g1(points, &query.ones),
        || pippenger::g1(points, &query.full, scalars),
    );
    ones + full
}

/// The sum of a query in G2.
pub(crate) fn g2(points: &[G2Affine], query: &Query, scalars: &[[u8; 32]]) -> G2Projective {
    let (ones, full) = rayon::join(
        || sum::g2(points, &query.ones),
        || pippenger::g2(points, &query.full, scalars),
    );
    ones + full
}

/// Σ scalarᵢ · pointᵢ with a full-width scalar for each point, little-endian, below the order.
pub(crate) fn g1_full(points: &[G1Affine], scalars: &[[u8; 32]]) -> G1Projective {
    pippenger::g1_full(points, scalars)
}

/// Bytes that finish needs for the multi-scalar multiplication in G2 of up to `terms` terms on a pool
/// of `threads` threads, at most, besides the partition and the parameters.
pub fn finish_scratch_bytes(terms: usize, threads: usize) -> u64 {
    pippenger::scratch_bytes(2, terms, threads)
}

/// The same for a multiplication in G1.
pub(crate) fn g1_scratch_bytes(terms: usize, threads: usize) -> u64 {
    pippenger::scratch_bytes(1, terms, threads)
}

fn projective_g1(point: blst_p1) -> G1Projective {
    let mut out = G1Projective::identity();
    *out.as_mut() = point;
    out
}

fn projective_g2(point: blst_p2) -> G2Projective {
    let mut out = G2Projective::identity();
    *out.as_mut() = point;
    out
}

#[cfg(test)]
mod tests;
