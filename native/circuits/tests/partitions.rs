//! The built-in circuits: their size, their witness, their public inputs and their proofs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code; clippy only knows it in #[test] functions"
)]

use std::sync::atomic::AtomicBool;

use bellperson::groth16 as peer;
use blstrs::{Bls12, Scalar};
use ff::Field;
use interlock_circuits::{verify_partition, CircuitKind, CircuitSpec, ErrorKind, Partition};
use interlock_groth16::{
    finish, prepare, setup, synthesise, Blinding, Cpu, Device, PreparedVerifyingKey, Unobserved,
};

const KINDS: [CircuitKind; 2] = [CircuitKind::Sha256, CircuitKind::Squarings];

#[test]
fn a_circuit_has_the_constraints_it_says_and_is_satisfied() {
    let sizes = [
        1, 2, 3, 4, 100, 26_033, 26_034, 26_035, 52_737, 52_738, 52_739, 62_500, 65_536, 80_000,
    ];
    for kind in KINDS {
        for constraints in sizes {
            let spec = CircuitSpec::new(kind, constraints).unwrap();
            let partition = Partition::new(spec, [5; 32], 3);
            let assignment = synthesise(partition.clone()).unwrap();
            let shape = assignment.shape();
            assert_eq!(
                shape.constraints as u64,
                spec.actual_constraints(),
                "{spec}"
            );
            assert_eq!(shape.domain() as u64, spec.domain(), "{spec}");
            assert_eq!(assignment.first_unsatisfied(), None, "{spec}");
            assert_eq!(
                assignment.public_inputs(),
                partition.public_inputs(),
                "{spec}"
            );
            assert_eq!(shape.inputs, 1 + spec.public_inputs(), "{spec}");
            if spec.actual_constraints() == constraints {
                assert_eq!(spec.to_string(), format!("{}-{constraints}", kind.name()));
            }
        }
    }
}

/// Counts the variables other than 0 and 1 in a synthesis.
fn full_width_share(partition: Partition) -> f64 {
    use bellpepper_core::{test_cs::TestConstraintSystem, Circuit};
    let mut cs = TestConstraintSystem::<Scalar>::new();
    partition.synthesize(&mut cs).unwrap();
    assert!(cs.is_satisfied());
    let values = cs.scalar_aux();
    let full = values
        .iter()
        .filter(|value| **value != Scalar::ZERO && **value != Scalar::ONE);
    full.count() as f64 / values.len() as f64
}

#[test]
fn the_witness_is_of_zeros_and_ones_in_one_and_full_width_in_the_other() {
    let [sha256, squarings] =
        KINDS.map(|kind| full_width_share(Partition::new(CircuitSpec::usual(kind), [1; 32], 0)));
    assert!(sha256 < 0.001, "{sha256}");
    assert!(squarings > 0.999, "{squarings}");
}

#[test]
fn partitions_and_seeds_have_public_inputs_of_their_own() {
    for kind in KINDS {
        let spec = CircuitSpec::new(kind, 100).unwrap();
        let inputs = |seed, index| Partition::new(spec, [seed; 32], index).public_inputs();
        assert_ne!(inputs(1, 0), inputs(1, 1));
        assert_ne!(inputs(1, 0), inputs(2, 0));
        assert_eq!(inputs(1, 0), inputs(1, 0));
    }
}

#[test]
fn names_are_read_back_and_nonsense_is_refused() {
    for text in ["sha256-62500", "squarings-65536", "sha256-26034"] {
        assert_eq!(text.parse::<CircuitSpec>().unwrap().to_string(), text);
    }
    let usual: CircuitSpec = "squarings".parse().unwrap();
    assert_eq!(usual, CircuitSpec::usual(CircuitKind::Squarings));
    for text in [
        "",
        "sha512",
        "sha256-",
        "sha256-0",
        "sha256-x",
        "sha256-999999999999",
    ] {
        let error = text.parse::<CircuitSpec>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadSpec, "{text}");
    }
}

#[test]
fn proofs_verify_here_and_with_bellperson_and_only_for_their_partition() {
    let device = Cpu::new(2).unwrap();
    for (kind, constraints) in [
        (CircuitKind::Sha256, 27_000),
        (CircuitKind::Squarings, 3_000),
    ] {
        let spec = CircuitSpec::new(kind, constraints).unwrap();
        let partition = Partition::new(spec, [2; 32], 1);
        let toxic = setup::Toxic::random().unwrap();
        // The parameters come from another instance: they depend on the circuit alone.
        let params = setup::generate(Partition::new(spec, [0; 32], 0), toxic, &|_| {}).unwrap();
        let (r, s) = (Scalar::from(11), Scalar::from(7).invert().unwrap());
        let assignment = synthesise(partition.clone()).unwrap();
        let mut prepared = prepare(assignment, &params, Blinding::from_scalars(r, s)).unwrap();
        let never = AtomicBool::new(false);
        let output = device
            .prove(&mut prepared, &params, &mut Unobserved, &never)
            .unwrap();
        let proof = finish(prepared, output, &params).unwrap().to_bytes();

        let mut bytes = Vec::new();
        params.write_to(&mut bytes).unwrap();
        let theirs = peer::Parameters::<Bls12>::read(&bytes[..], true).unwrap();
        let key = peer::prepare_verifying_key(&theirs.vk);
        let parsed = peer::Proof::<Bls12>::read(&proof[..]).unwrap();
        assert!(peer::verify_proof(&key, &parsed, &partition.public_inputs()).unwrap());
        let mut expected = Vec::new();
        peer::create_proof::<Bls12, _, _>(partition.clone(), &theirs, r, s)
            .unwrap()
            .write(&mut expected)
            .unwrap();
        assert_eq!(proof[..], expected[..], "{spec}");

        let vk = PreparedVerifyingKey::new(params.vk());
        assert!(verify_partition(&vk, &partition, &proof).unwrap());
        let other = Partition::new(spec, [2; 32], 2);
        assert!(!verify_partition(&vk, &other, &proof).unwrap());
        let error = verify_partition(&vk, &partition, &proof[1..]).unwrap_err();
        let malformed = interlock_groth16::ErrorKind::MalformedProof;
        assert_eq!(error.kind(), ErrorKind::Groth16(malformed));
    }
}
