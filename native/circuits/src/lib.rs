//! The built-in circuits, their partitions, and where their parameters live.
//!
//! Two circuits stand for the two ends of what a storage provider proves: [`CircuitKind::Sha256`]
//! has a witness of almost only zeros and ones, as a PoRep has, and [`CircuitKind::Squarings`] a
//! witness of full-width scalars, as a WinningPoSt has. Both come in any size.

mod error;
mod memory;
mod params;
mod partition;
mod sha256;
mod spec;
mod squarings;

pub use error::{Error, ErrorKind};
pub use memory::{device_bytes, finish_bytes, params_bytes, partition_bytes};
pub use params::{params_for, params_path};
pub use partition::{verify_partition, Partition, Seed};
pub use spec::{CircuitKind, CircuitSpec};
