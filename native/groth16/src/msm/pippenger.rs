//! Pippenger's bucket method for full-width scalars, over blst's single-threaded tiles.
//!
//! The work is a grid: a row for each window of bits, a column for each share of the terms. A
//! tile is one cell, computed by one task of the current pool with its own buckets:
//!
//! ```text
//!               terms 0..dx   dx..2dx
//! bits 240-254  [ tile ]      [ tile ]      Σ of a row, then ×2^window down the rows
//! bits 225-239  [ tile ]      [ tile ]
//!    …
//! ```

use std::ptr;

use blst::{
    blst_p1, blst_p1_affine, blst_p1s_mult_pippenger_scratch_sizeof, blst_p1s_tile_pippenger,
    blst_p2, blst_p2_affine, blst_p2s_mult_pippenger_scratch_sizeof, blst_p2s_tile_pippenger,
};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use group::{prime::PrimeCurveAffine, Group};
use rayon::prelude::*;

use super::Term;

/// Bits of a scalar: the order of the group is below 2^255.
const SCALAR_BITS: usize = 255;

/// The largest window. Its buckets take 12 MiB in G1 and 24 MiB in G2 for each thread.
const MAX_WINDOW: usize = 17;

/// Fewer terms than this are multiplied one by one.
const FEW: usize = 16;

/// A group that blst has tiles for.
trait Tiles: PrimeCurveAffine + Send + Sync {
    /// Σ of the tile for the bits from `bit0`. The lists have one pointer a term and a null at
    /// the end; `buckets` has `bucket_words << (window - 1)` zeros and is left so.
    ///
    /// # Safety
    /// The pointers must be valid, of scalars to 32 bytes, and there must be two terms or more.
    unsafe fn tile(
        points: &[*const Self],
        scalars: &[*const u8],
        buckets: &mut [u64],
        bit0: usize,
        window: usize,
    ) -> Self::Curve;

    /// 64-bit words of one bucket.
    fn bucket_words() -> usize;
}

impl Tiles for G1Affine {
    unsafe fn tile(
        points: &[*const Self],
        scalars: &[*const u8],
        buckets: &mut [u64],
        bit0: usize,
        window: usize,
    ) -> G1Projective {
        let mut sum = blst_p1::default();
        // SAFETY: `G1Affine` is a transparent `blst_p1_affine`; the rest is the caller's word.
        unsafe {
            blst_p1s_tile_pippenger(
                &mut sum,
                points.as_ptr().cast::<*const blst_p1_affine>(),
                points.len() - 1,
                scalars.as_ptr(),
                SCALAR_BITS,
                buckets.as_mut_ptr(),
                bit0,
                window,
            );
        }
        super::projective_g1(sum)
    }

    fn bucket_words() -> usize {
        // SAFETY: a pure function of its argument; of 0 points it gives one bucket.
        unsafe { blst_p1s_mult_pippenger_scratch_sizeof(0) / 8 }
    }
}

impl Tiles for G2Affine {
    unsafe fn tile(
        points: &[*const Self],
        scalars: &[*const u8],
        buckets: &mut [u64],
        bit0: usize,
        window: usize,
    ) -> G2Projective {
        let mut sum = blst_p2::default();
        // SAFETY: as for `G1Affine`.
        unsafe {
            blst_p2s_tile_pippenger(
                &mut sum,
                points.as_ptr().cast::<*const blst_p2_affine>(),
                points.len() - 1,
                scalars.as_ptr(),
                SCALAR_BITS,
                buckets.as_mut_ptr(),
                bit0,
                window,
            );
        }
        super::projective_g2(sum)
    }

    fn bucket_words() -> usize {
        // SAFETY: as for `G1Affine`.
        unsafe { blst_p2s_mult_pippenger_scratch_sizeof(0) / 8 }
    }
}

/// How the work is cut: window bits, rows, and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grid {
    window: usize,
    rows: usize,
    columns: usize,
}

impl Grid {
    /// The grid that takes `threads` threads the least time, counted in point additions: a tile
    /// costs one for each term and 2.8 for each bucket (two additions that are 40 % dearer).
    fn for_terms(terms: usize, threads: usize) -> Grid {
        let mut best = (f64::INFINITY, Grid { window: 1, rows: SCALAR_BITS + 1, columns: 1 });
        for window in 2..=MAX_WINDOW {
            // One row more than whole windows: the signed digits carry past the top.
            let rows = SCALAR_BITS / window + 1;
            for columns in 1..=(2 * threads).min(terms / FEW + 1) {
                let tile = terms.div_ceil(columns) as f64 + 2.8 * (1 << (window - 1)) as f64;
                let cost = (rows * columns).div_ceil(threads) as f64 * tile;
                if cost < best.0 {
                    best = (cost, Grid { window, rows, columns });
                }
            }
        }
        best.1
    }
}

/// A term's addresses, null-terminated lists of which blst takes.
struct Addresses<A> {
    points: Vec<*const A>,
    scalars: Vec<*const u8>,
}

// SAFETY: the addresses are of shared slices that outlive them and are only read.
unsafe impl<A> Sync for Addresses<A> {}

fn sum<A: Tiles>(columns: &[Addresses<A>], grid: Grid) -> A::Curve
where
    A::Curve: Send,
{
    let row_sums: Vec<A::Curve> = (0..grid.rows * grid.columns)
        .into_par_iter()
        .map_init(
            || vec![0_u64; A::bucket_words() << (grid.window - 1)],
            |buckets, i| {
                let column = &columns[i % grid.columns];
                let bit0 = i / grid.columns * grid.window;
                // SAFETY: the addresses are valid and each column has two terms or more.
                unsafe { A::tile(&column.points, &column.scalars, buckets, bit0, grid.window) }
            },
        )
        .collect();
    let mut total = A::Curve::identity();
    for row in row_sums.chunks(grid.columns).rev() {
        for _ in 0..grid.window {
            total = total.double();
        }
        for tile in row {
            total += tile;
        }
    }
    total
}

fn multiply<A>(terms: usize, term: impl Fn(usize) -> (*const A, *const u8)) -> A::Curve
where
    A: Tiles,
    A::Curve: Send,
{
    let grid = Grid::for_terms(terms, rayon::current_num_threads());
    let columns: Vec<Addresses<A>> = (0..grid.columns)
        .map(|column| {
            let range =
                column * terms / grid.columns..(column + 1) * terms / grid.columns;
            let (mut points, mut scalars): (Vec<_>, Vec<_>) = range.map(&term).unzip();
            points.push(ptr::null());
            scalars.push(ptr::null());
            Addresses { points, scalars }
        })
        .collect();
    sum(&columns, grid)
}

fn indexed<A>(points: &[A], terms: &[Term], scalars: &[[u8; 32]]) -> A::Curve
where
    A: Tiles<Scalar = blstrs::Scalar>,
    A::Curve: Send,
{
    if terms.len() < FEW {
        let products = terms.iter().map(|term| {
            points[term.point as usize] * scalar(&scalars[term.scalar as usize])
        });
        return products.sum();
    }
    multiply(terms.len(), |i| {
        let term = terms[i];
        (ptr::from_ref(&points[term.point as usize]), scalars[term.scalar as usize].as_ptr())
    })
}

/// The scalar of `bytes`, which are below the order wherever this crate made them.
fn scalar(bytes: &[u8; 32]) -> blstrs::Scalar {
    <blstrs::Scalar as ff::PrimeField>::from_repr_vartime(*bytes).unwrap_or_default()
}

/// Σ over `terms` in G1.
pub(super) fn g1(points: &[G1Affine], terms: &[Term], scalars: &[[u8; 32]]) -> G1Projective {
    indexed(points, terms, scalars)
}

/// Σ over `terms` in G2.
pub(super) fn g2(points: &[G2Affine], terms: &[Term], scalars: &[[u8; 32]]) -> G2Projective {
    indexed(points, terms, scalars)
}

/// Σ scalarᵢ · pointᵢ in G1; the shorter list decides.
pub(super) fn g1_full(points: &[G1Affine], scalars: &[[u8; 32]]) -> G1Projective {
    let terms = points.len().min(scalars.len());
    if terms < FEW {
        return points.iter().zip(scalars).map(|(point, bytes)| *point * scalar(bytes)).sum();
    }
    multiply(terms, |i| (ptr::from_ref(&points[i]), scalars[i].as_ptr()))
}
