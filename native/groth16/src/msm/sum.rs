//! Sums of points, by batched affine addition.

use std::ptr;

use blst::{blst_p1, blst_p1_affine, blst_p1s_add, blst_p2, blst_p2_affine, blst_p2s_add};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use rayon::prelude::*;

/// Points a task: enough for the batched inversions to pay, few enough to share out evenly.
const CHUNK: usize = 2048;

/// Σ pointᵢ over `indices` in G1.
pub(super) fn g1(points: &[G1Affine], indices: &[u32]) -> G1Projective {
    indices
        .par_chunks(CHUNK)
        .map(|chunk| {
            let chunk: Vec<*const blst_p1_affine> = chunk
                .iter()
                .map(|&i| ptr::from_ref(points[i as usize].as_ref()))
                .collect();
            let mut sum = blst_p1::default();
            // SAFETY: `chunk` has as many valid pointers as it says; `sum` is ours.
            unsafe { blst_p1s_add(&mut sum, chunk.as_ptr(), chunk.len()) };
            super::projective_g1(sum)
        })
        .sum()
}

/// Σ pointᵢ over `indices` in G2.
pub(super) fn g2(points: &[G2Affine], indices: &[u32]) -> G2Projective {
    indices
        .par_chunks(CHUNK)
        .map(|chunk| {
            let chunk: Vec<*const blst_p2_affine> = chunk
                .iter()
                .map(|&i| ptr::from_ref(points[i as usize].as_ref()))
                .collect();
            let mut sum = blst_p2::default();
            // SAFETY: as in `g1`.
            unsafe { blst_p2s_add(&mut sum, chunk.as_ptr(), chunk.len()) };
            super::projective_g2(sum)
        })
        .sum()
}
