//! The stages of a proof that run on the host: prepare, before the device, and finish, after it.

use blstrs::{G1Projective, G2Projective, Scalar};
use ff::{Field, PrimeField};
use group::{prime::PrimeCurveAffine, Curve};
use rand_core::{OsRng, RngCore};

use crate::msm::{self, Query};
use crate::{Assignment, DeviceOutput, Error, ErrorKind, Params, Proof, Shape};

/// The two random scalars that make a proof zero-knowledge. A pair must never be used twice.
#[derive(Clone)]
pub struct Blinding {
    pub(crate) r: Scalar,
    pub(crate) s: Scalar,
}

impl Blinding {
    /// Fresh from the operating system.
    ///
    /// Errors: `Randomness`.
    pub fn random() -> Result<Blinding, Error> {
        Ok(Blinding {
            r: random_scalar()?,
            s: random_scalar()?,
        })
    }

    /// Given scalars: for tests that compare provers byte by byte.
    pub fn from_scalars(r: Scalar, s: Scalar) -> Blinding {
        Blinding { r, s }
    }
}

impl std::fmt::Debug for Blinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blinding(..)")
    }
}

/// A uniform scalar from the operating system, by rejection.
pub(crate) fn random_scalar() -> Result<Scalar, Error> {
    loop {
        let mut bytes = [0; 32];
        OsRng.try_fill_bytes(&mut bytes).map_err(|error| {
            Error::new(
                ErrorKind::Randomness,
                format!("the operating system gave no random bytes: {error}"),
            )
        })?;
        bytes[31] &= 0x7f;
        if let Some(scalar) = Scalar::from_repr_vartime(bytes) {
            return Ok(scalar);
        }
    }
}

/// A partition ready for the device: evaluations of A, B and C, and the scalars sorted by the
/// query that they go to. Holds about `96 · domain + 32 · full-width variables` bytes.
pub struct Prepared {
    pub(crate) shape: Shape,
    pub(crate) params_digest: [u8; 32],
    /// Evaluations of A, B and C over the domain; taken by the device's transforms.
    pub(crate) evaluations: Option<[Vec<Scalar>; 3]>,
    /// The variables other than 0 and 1, as little-endian integers.
    pub(crate) scalars: Vec<[u8; 32]>,
    pub(crate) l: Query,
    pub(crate) a: Query,
    pub(crate) b: Query,
    blinding: Blinding,
}

impl Prepared {
    /// The circuit's shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Bytes that the partition holds now.
    pub fn bytes(&self) -> u64 {
        let evaluations = self
            .evaluations
            .iter()
            .flatten()
            .map(Vec::capacity)
            .sum::<usize>();
        let scalars = 32 * (evaluations + self.scalars.capacity());
        (scalars + self.l.bytes() + self.a.bytes() + self.b.bytes()) as u64
    }

    /// `ParamsMismatch` unless `params` are those of `prepare`.
    pub(crate) fn check_params(&self, params: &Params) -> Result<(), Error> {
        if self.params_digest == params.digest {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::ParamsMismatch,
            "the partition was prepared with other parameters; use the same ones in every stage",
        ))
    }
}

/// The prepare stage: checks that `params` fit, pads the evaluations to the domain and sorts the
/// variables into zeros (dropped), ones and full-width scalars. Computes on the current pool.
///
/// Errors: `ParamsMismatch`, `TooLarge`.
pub fn prepare(
    assignment: Assignment,
    params: &Params,
    blinding: Blinding,
) -> Result<Prepared, Error> {
    let shape = assignment.shape();
    params.check_fits(&shape)?;
    let domain = shape.domain();
    if domain.trailing_zeros() >= Scalar::S || shape.inputs + shape.aux > u32::MAX as usize {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "a circuit of {} constraints is too large to prove",
                shape.constraints
            ),
        ));
    }

    let Assignment {
        inputs,
        aux,
        mut a,
        mut b,
        mut c,
        a_aux,
        b_inputs,
        b_aux,
        ..
    } = assignment;
    for evaluations in [&mut a, &mut b, &mut c] {
        // Exact: doubling would hold up to twice the domain.
        evaluations.reserve_exact(domain - evaluations.len());
        evaluations.resize(domain, Scalar::ZERO);
    }
    let variables = msm::Variables::classify(&inputs, &aux);
    let everywhere = |_| true;
    let (l, (a_query, b_query)) = rayon::join(
        || variables.query(inputs.len()..inputs.len() + aux.len(), everywhere),
        || {
            let n = inputs.len();
            rayon::join(
                || variables.query(0..n + aux.len(), |i| i < n || a_aux[i - n]),
                || {
                    variables.query(0..n + aux.len(), |i| {
                        if i < n {
                            b_inputs[i]
                        } else {
                            b_aux[i - n]
                        }
                    })
                },
            )
        },
    );
    Ok(Prepared {
        shape,
        params_digest: params.digest,
        evaluations: Some([a, b, c]),
        scalars: variables.into_full(),
        l,
        a: a_query,
        b: b_query,
        blinding,
    })
}

/// The finish stage: the multi-scalar multiplication of B in G2, then the assembly of the proof
/// (Groth 2016, section 3.2). Computes on the current pool and frees the partition.
///
/// Errors: `ParamsMismatch` if `params` are not those of `prepare`, `ParamsBadPoint` if their δ
/// is zero.
pub fn finish(prepared: Prepared, output: DeviceOutput, params: &Params) -> Result<Proof, Error> {
    prepared.check_params(params)?;
    let vk = &params.vk;
    if bool::from(vk.delta_g1.is_identity()) || bool::from(vk.delta_g2.is_identity()) {
        return Err(Error::new(
            ErrorKind::ParamsBadPoint,
            format!(
                "{} has a zero δ: proofs would reveal the witness",
                params.place()
            ),
        ));
    }
    let b_g2 = msm::g2(&params.b_g2, &prepared.b, &prepared.scalars);
    let Blinding { r, s } = prepared.blinding;

    let a: G1Projective = vk.delta_g1 * r + vk.alpha_g1 + output.a;
    let b: G2Projective = vk.delta_g2 * s + vk.beta_g2 + b_g2;
    // C = s·A + r·B − r·s·δ + H + L, with A and B in G1.
    let b_g1: G1Projective = vk.delta_g1 * s + vk.beta_g1 + output.b_g1;
    let c: G1Projective = a * s + b_g1 * r - vk.delta_g1 * (r * s) + output.h + output.l;

    let proof = Proof {
        a: a.to_affine(),
        b: b.to_affine(),
        c: c.to_affine(),
    };
    Ok(proof)
}
