//! Groth16 over BLS12-381, taken in stages.
//!
//! ```text
//! circuit ──synthesise──▶ Assignment ──prepare──▶ Prepared ──Device::prove──▶ DeviceOutput
//!                                                    │                            │
//!                                                    └────────────┬───────────────┘
//!                                                               finish ──▶ Proof (192 bytes)
//! ```
//!
//! The stages are apart so that a scheduler can hold the device for the middle one only. The
//! protocol is that of Groth 2016 (<https://eprint.iacr.org/2016/260>); parameters and proofs
//! have the bytes that bellperson and Filecoin read and write.
//!
//! `synthesise`, `prepare`, `finish`, `setup::generate` and `Params::open` compute on the current
//! rayon pool: choose it with `ThreadPool::install`. A device brings its own threads. This crate
//! makes no other thread.

mod assignment;
mod cpu;
pub mod cuda;
mod device;
mod domain;
mod error;
mod field;
mod msm;
mod params;
mod proof;
mod prove;
pub mod setup;
mod verify;
mod words;

pub use assignment::{synthesise, synthesise_counting, Assignment, Shape};
pub use cpu::Cpu;
pub use device::{
    Backend, Device, DeviceObserver, DeviceOutput, Kernel, Unobserved, Wait, DEVICE_STEPS,
};
pub use error::{Error, ErrorKind};
pub use msm::finish_scratch_bytes;
pub use params::{Params, VerifyingKey};
pub use proof::{Proof, PROOF_BYTES};
pub use prove::{finish, prepare, Blinding, Prepared};
pub use verify::{verify, PreparedVerifyingKey};

pub use blstrs::Scalar;
