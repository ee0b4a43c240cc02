//! Circuits and shortcuts that the tests share.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(
    clippy::unwrap_used,
    reason = "test code; clippy only knows it in #[test] functions"
)]

use std::sync::atomic::AtomicBool;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::groth16 as peer;
use blstrs::{Bls12, G1Projective, G2Projective};
use ff::Field;
use group::Group;
use interlock_groth16::{
    finish, prepare, setup, synthesise, Blinding, Cpu, Device, Params, Proof, Scalar, Unobserved,
};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

/// A circuit with everything that can go wrong in a query: zeros, ones, minus one, small and
/// full-width values; variables that occur only in A, only in B, only in C, or in both; public
/// inputs in B; coefficients of zero; and no multiple of anything.
#[derive(Clone)]
pub struct Mixed {
    pub steps: usize,
    pub seed: u64,
}

impl Mixed {
    pub fn values(&self) -> (Scalar, Scalar) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        (Scalar::random(&mut rng), Scalar::random(&mut rng))
    }
}

impl Circuit<Scalar> for Mixed {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let (x, y) = self.values();
        let product = x * y;
        let public = cs.alloc_input(|| "product", || Ok(product))?;
        let a = cs.alloc(|| "x", || Ok(x))?;
        let b = cs.alloc(|| "y", || Ok(y))?;
        cs.enforce(|| "x·y", |lc| lc + a, |lc| lc + b, |lc| lc + public);
        let mut value = x;
        let mut variable = a;
        for i in 0..self.steps {
            let (next, other) = match i % 5 {
                0 => (Scalar::ZERO, Scalar::ZERO),
                1 => (value, Scalar::ONE),
                2 => (-value, -Scalar::ONE),
                3 => (value.double(), Scalar::from(2)),
                _ => (value * product, product),
            };
            let out = cs.alloc(|| format!("out {i}"), || Ok(next))?;
            if i % 5 == 4 {
                cs.enforce(
                    || "public",
                    |lc| lc + variable,
                    |lc| lc + public,
                    |lc| lc + out,
                );
            } else {
                let factor = cs.alloc(|| format!("factor {i}"), || Ok(other))?;
                cs.enforce(
                    || format!("step {i}"),
                    |lc| lc + variable + (Scalar::ZERO, b),
                    |lc| lc + factor + (Scalar::ZERO, a),
                    |lc| lc + out,
                );
            }
            if i % 5 == 0 {
                // Start again from something that is not zero.
                value = x;
                variable = a;
            } else {
                value = next;
                variable = out;
            }
        }
        Ok(())
    }
}

/// The secrets of a test's setup, for both generators.
pub struct Secrets {
    pub scalars: [Scalar; 5],
    pub g1: G1Projective,
    pub g2: G2Projective,
}

impl Secrets {
    pub fn of(seed: u64) -> Secrets {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Secrets {
            scalars: std::array::from_fn(|_| Scalar::random(&mut rng)),
            g1: G1Projective::random(&mut rng),
            g2: G2Projective::random(&mut rng),
        }
    }

    pub fn ours<C: Circuit<Scalar>>(&self, circuit: C) -> Params {
        let toxic = setup::Toxic::from_scalars(self.scalars, self.g1, self.g2);
        setup::generate(circuit, toxic, &|_| {}).unwrap()
    }

    pub fn theirs<C: Circuit<Scalar>>(&self, circuit: C) -> peer::Parameters<Bls12> {
        let [alpha, beta, gamma, delta, tau] = self.scalars;
        peer::generate_parameters(circuit, self.g1, self.g2, alpha, beta, gamma, delta, tau)
            .unwrap()
    }
}

pub fn bytes_of(params: &Params) -> Vec<u8> {
    let mut bytes = Vec::new();
    params.write_to(&mut bytes).unwrap();
    bytes
}

pub fn peer_params(params: &Params) -> peer::Parameters<Bls12> {
    peer::Parameters::read(&bytes_of(params)[..], true).unwrap()
}

pub fn prove<C: Circuit<Scalar>>(
    circuit: C,
    params: &Params,
    device: &Cpu,
    blinding: Blinding,
) -> Proof {
    let assignment = synthesise(circuit).unwrap();
    let mut prepared = prepare(assignment, params, blinding).unwrap();
    let never = AtomicBool::new(false);
    let output = device
        .prove(&mut prepared, params, &mut Unobserved, &never)
        .unwrap();
    finish(prepared, output, params).unwrap()
}

pub fn peer_verifies(params: &peer::Parameters<Bls12>, proof: &[u8], inputs: &[Scalar]) -> bool {
    let Ok(proof) = peer::Proof::read(proof) else {
        return false;
    };
    peer::verify_proof(&peer::prepare_verifying_key(&params.vk), &proof, inputs).unwrap()
}

/// A folder that goes away with the test.
pub struct Folder(pub std::path::PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("interlock-groth16-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
