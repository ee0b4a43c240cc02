//! Verification of a proof against public inputs.

use blst::{
    blst_final_exp, blst_fp12, blst_fp12_is_equal, blst_fp12_mul, blst_fp6, blst_miller_loop,
    blst_miller_loop_lines, blst_precompute_lines,
};
use blstrs::{G1Affine, G1Projective, G2Affine, Scalar};
use group::Curve;

use crate::{Error, ErrorKind, Proof, VerifyingKey};

/// Coefficients of the lines of a Miller loop with a fixed point of G2.
struct Lines(Box<[blst_fp6; 68]>);

impl Lines {
    fn of(point: G2Affine) -> Lines {
        let mut lines = Box::new([blst_fp6::default(); 68]);
        // SAFETY: the function writes exactly 68 elements for any valid point.
        unsafe { blst_precompute_lines(lines.as_mut_ptr(), point.as_ref()) };
        Lines(lines)
    }

    fn miller_loop(&self, point: &G1Affine) -> blst_fp12 {
        let mut out = blst_fp12::default();
        // SAFETY: `self.0` has the 68 elements that `blst_precompute_lines` wrote.
        unsafe { blst_miller_loop_lines(&mut out, self.0.as_ptr(), point.as_ref()) };
        out
    }
}

/// A verifying key with all that does not depend on the proof computed once.
pub struct PreparedVerifyingKey {
    /// e(α, β)
    alpha_beta: blst_fp12,
    minus_gamma: Lines,
    minus_delta: Lines,
    ic: Vec<G1Affine>,
}

impl PreparedVerifyingKey {
    /// Prepares `vk`.
    pub fn new(vk: &VerifyingKey) -> PreparedVerifyingKey {
        let mut alpha_beta = blst_fp12::default();
        // SAFETY: both points are valid and the output may not alias them.
        unsafe {
            let mut loops = blst_fp12::default();
            blst_miller_loop(&mut loops, vk.beta_g2.as_ref(), vk.alpha_g1.as_ref());
            blst_final_exp(&mut alpha_beta, &loops);
        }
        PreparedVerifyingKey {
            alpha_beta,
            minus_gamma: Lines::of(-vk.gamma_g2),
            minus_delta: Lines::of(-vk.delta_g2),
            ic: vk.ic.clone(),
        }
    }

    /// Public inputs that a proof needs, the constant one not counted.
    pub fn inputs(&self) -> usize {
        self.ic.len().saturating_sub(1)
    }
}

/// Whether `proof` proves the circuit of `vk` for `inputs`: e(A, B) = e(α, β) · e(Σ xᵢ·ICᵢ, γ) ·
/// e(C, δ) (Groth 2016, section 3.2). A wrong proof is `Ok(false)`.
///
/// Errors: `WrongInputs` if the number of inputs is not the circuit's.
pub fn verify(vk: &PreparedVerifyingKey, proof: &Proof, inputs: &[Scalar]) -> Result<bool, Error> {
    let (Some(&one), true) = (vk.ic.first(), inputs.len() == vk.inputs()) else {
        return Err(Error::new(
            ErrorKind::WrongInputs,
            format!(
                "this circuit has {} public inputs, {} were given",
                vk.inputs(),
                inputs.len()
            ),
        ));
    };
    let mut sum = G1Projective::from(one);
    for (point, input) in vk.ic[1..].iter().zip(inputs) {
        sum += *point * input;
    }
    let loops_inputs = vk.minus_gamma.miller_loop(&sum.to_affine());
    let loops_c = vk.minus_delta.miller_loop(&proof.c);
    let mut out = blst_fp12::default();
    // SAFETY: all operands are valid, and blst allows an output to alias an input here.
    unsafe {
        let mut loops = blst_fp12::default();
        blst_miller_loop(&mut loops, proof.b.as_ref(), proof.a.as_ref());
        blst_fp12_mul(&mut loops, &loops, &loops_inputs);
        blst_fp12_mul(&mut loops, &loops, &loops_c);
        blst_final_exp(&mut out, &loops);
        Ok(blst_fp12_is_equal(&out, &vk.alpha_beta))
    }
}
