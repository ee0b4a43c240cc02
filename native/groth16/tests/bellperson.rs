//! bellperson as the independent verifier, and as an oracle that must give the same bytes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code; clippy only knows it in #[test] functions"
)]

mod support;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::groth16 as peer;
use blstrs::Bls12;
use interlock_groth16::{
    synthesise, verify, Blinding, Cpu, ErrorKind, PreparedVerifyingKey, Proof, Scalar,
};
use support::{bytes_of, peer_params, peer_verifies, prove, Mixed, Secrets};

#[test]
fn our_setup_writes_the_bytes_that_bellperson_writes() {
    for (seed, steps) in [(1, 0), (2, 1), (3, 5), (4, 61), (5, 300), (6, 1021)] {
        let circuit = Mixed { steps, seed };
        let secrets = Secrets::of(seed);
        let mut theirs = Vec::new();
        secrets.theirs(circuit.clone()).write(&mut theirs).unwrap();
        assert!(
            bytes_of(&secrets.ours(circuit)) == theirs,
            "{steps} steps differ"
        );
    }
}

#[test]
fn our_prover_gives_the_bytes_that_bellperson_gives() {
    let device = Cpu::new(2).unwrap();
    for (seed, steps) in [(1, 0), (2, 7), (3, 61), (4, 300), (5, 1021), (6, 5000)] {
        let circuit = Mixed { steps, seed };
        let params = Secrets::of(seed).ours(circuit.clone());
        let (r, s) = (Scalar::from(seed + 10), -Scalar::from(seed));
        let ours = prove(
            circuit.clone(),
            &params,
            &device,
            Blinding::from_scalars(r, s),
        );
        let mut theirs = Vec::new();
        peer::create_proof::<Bls12, _, _>(circuit, &peer_params(&params), r, s)
            .unwrap()
            .write(&mut theirs)
            .unwrap();
        assert_eq!(ours.to_bytes()[..], theirs[..], "{steps} steps differ");
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let circuit = Mixed {
        steps: 3000,
        seed: 9,
    };
    let params = Secrets::of(9).ours(circuit.clone());
    let proofs: Vec<_> = [1, 2, 3, 5]
        .map(|threads| {
            let device = Cpu::new(threads).unwrap();
            let blinding = Blinding::from_scalars(Scalar::from(3), Scalar::from(4));
            prove(circuit.clone(), &params, &device, blinding).to_bytes()
        })
        .into();
    assert!(proofs.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_proof_verifies_with_both_and_one_changed_bit_with_neither() {
    let circuit = Mixed {
        steps: 200,
        seed: 8,
    };
    let params = Secrets::of(8).ours(circuit.clone());
    let theirs = peer_params(&params);
    let vk = PreparedVerifyingKey::new(params.vk());
    let device = Cpu::new(2).unwrap();
    let inputs = synthesise(circuit.clone())
        .unwrap()
        .public_inputs()
        .to_vec();
    let proof = prove(circuit, &params, &device, Blinding::random().unwrap()).to_bytes();
    let ours = |bytes: &[u8], inputs: &[Scalar]| {
        Proof::from_bytes(bytes).is_ok_and(|proof| verify(&vk, &proof, inputs).unwrap())
    };
    assert!(ours(&proof, &inputs));
    assert!(peer_verifies(&theirs, &proof, &inputs));

    for bit in (0..8 * proof.len()).step_by(37) {
        let mut changed = proof;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(!ours(&changed, &inputs), "bit {bit}");
        assert!(
            !peer_verifies(&theirs, &changed, &inputs),
            "bit {bit}, bellperson"
        );
    }
    assert!(!ours(&proof, &[inputs[0] + Scalar::from(1)]));
    // Signs of A and B both changed cancel in the pairing only if C and the rest agree: they do,
    // and the proof stays valid. Groth16 proofs are malleable; nothing here may rely on more.
    let mut parsed = Proof::from_bytes(&proof).unwrap();
    parsed.a = -parsed.a;
    parsed.b = -parsed.b;
    assert!(verify(&vk, &parsed, &inputs).unwrap());
}

#[test]
fn two_random_proofs_of_one_partition_differ() {
    let circuit = Mixed { steps: 10, seed: 8 };
    let params = Secrets::of(8).ours(circuit.clone());
    let device = Cpu::new(1).unwrap();
    let proof = || {
        prove(
            circuit.clone(),
            &params,
            &device,
            Blinding::random().unwrap(),
        )
    };
    assert_ne!(proof().to_bytes(), proof().to_bytes());
}

#[test]
fn malformed_proofs_are_an_error_and_wrong_inputs_too() {
    let circuit = Mixed { steps: 10, seed: 8 };
    let params = Secrets::of(8).ours(circuit.clone());
    let proof = prove(
        circuit,
        &params,
        &Cpu::new(1).unwrap(),
        Blinding::random().unwrap(),
    );
    let bytes = proof.to_bytes();
    let kind = |bytes: &[u8]| Proof::from_bytes(bytes).unwrap_err().kind();
    assert_eq!(kind(&[]), ErrorKind::MalformedProof);
    assert_eq!(kind(&bytes[..191]), ErrorKind::MalformedProof);
    assert_eq!(
        kind(&[&bytes[..], &[0]].concat()),
        ErrorKind::MalformedProof
    );
    assert_eq!(kind(&[0; 192]), ErrorKind::MalformedProof);
    assert_eq!(kind(&[0xff; 192]), ErrorKind::MalformedProof);
    let mut infinity = bytes;
    infinity[..48].fill(0);
    infinity[0] = 0xc0;
    assert_eq!(kind(&infinity), ErrorKind::MalformedProof);
    let vk = PreparedVerifyingKey::new(params.vk());
    assert_eq!(
        verify(&vk, &proof, &[]).unwrap_err().kind(),
        ErrorKind::WrongInputs
    );
}

/// Whether joining separately synthesised parts gives what one synthesis gives.
struct Parts(Vec<Mixed>, bool);

impl Circuit<Scalar> for Parts {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        for part in self.0 {
            if self.1 && CS::is_extensible() {
                let mut other = CS::new();
                other.alloc_input(|| "one", || Ok(Scalar::from(1)))?;
                part.synthesize(&mut other)?;
                cs.extend(&other);
            } else {
                part.synthesize(cs)?;
            }
        }
        Ok(())
    }
}

#[test]
fn parts_synthesised_apart_and_joined_are_the_whole() {
    let parts = || vec![Mixed { steps: 3, seed: 1 }, Mixed { steps: 9, seed: 2 }];
    let apart = synthesise(Parts(parts(), true)).unwrap();
    assert!(apart == synthesise(Parts(parts(), false)).unwrap());
    assert_eq!(apart.first_unsatisfied(), None);
}
