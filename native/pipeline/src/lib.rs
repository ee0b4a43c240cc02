//! Synthesis pool, queue, GPU workers, permits, schedulers.
//!
//! ```text
//! submit ─▶ board ─▶ synthesis workers ─▶ queue ─▶ GPU workers ─▶ verifier ─▶ sink
//!             │ permits, order                        │ device lock
//!             └────────────── events, snapshots ──────┴─▶ timeline
//! ```
//!
//! A scheduler is data that the board reads: [`Scheduler`]. What proves is behind one trait,
//! [`Backend`]: [`Cpu`] makes real proofs, [`Emulated`] waits.

mod backend;
mod board;
mod clockmap;
mod cpu;
mod emulated;
mod engine;
mod error;
mod order;
mod permits;
mod scheduler;
mod wait;

pub use backend::{Backend, Facts, Notify, Task, Work};
pub use board::{Closed, End, PartitionProof, Stop, Submission, Withdrawn};
pub use cpu::{hex, params_error, spec, Cpu};
pub use emulated::{Emulated, Spec, Target};
pub use engine::{Engine, Request, Sink};
pub use error::{Error, ErrorKind};
pub use scheduler::{Order, Scheduler};
