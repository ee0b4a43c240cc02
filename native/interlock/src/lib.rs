//! Who may hold a device.
//!
//! A [`DeviceLock`] is handed over in the order of asking. A [`Turn`] leads a worker through prepare, device and
//! finish, and takes and gives back the lock where its [`LockScope`] says.
// The model checker runs these very sources, on its own primitives.
#![cfg_attr(test, allow(clippy::duplicate_mod))]

mod cancel;
mod lock;
#[cfg(test)]
mod model;
#[cfg(test)]
mod sabotage;
mod turn;
mod sync {
    pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
    pub(crate) use std::sync::{Arc, Condvar, Mutex};
}

pub use cancel::Cancel;
pub use lock::{Cancelled, DeviceLock, Guard, Observer};
pub use turn::{Finishing, LockScope, OnDevice, PickedUp, Preparing, Turn};
