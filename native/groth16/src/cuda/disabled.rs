//! The CUDA device of a build that has none: it cannot be made.

use std::convert::Infallible;
use std::sync::atomic::AtomicBool;

use crate::{Backend, Device, DeviceObserver, DeviceOutput, Error, ErrorKind, Params, Prepared};

/// An NVIDIA GPU. No value of this type exists in this build.
#[derive(Debug)]
pub struct Cuda {
    never: Infallible,
}

impl Cuda {
    /// Opens the GPU with CUDA ordinal `ordinal`.
    ///
    /// Errors: always `BackendUnavailable` in this build.
    pub fn new(ordinal: u32) -> Result<Cuda, Error> {
        Err(Error::new(
            ErrorKind::BackendUnavailable,
            format!(
                "this build has no CUDA backend, so GPU {ordinal} cannot be opened; \
                 choose the backend `cpu`"
            ),
        ))
    }
}

impl Device for Cuda {
    fn backend(&self) -> Backend {
        match self.never {}
    }

    fn name(&self) -> String {
        match self.never {}
    }

    fn prove(
        &self,
        _: &mut Prepared,
        _: &Params,
        _: &mut dyn DeviceObserver,
        _: &AtomicBool,
    ) -> Result<DeviceOutput, Error> {
        match self.never {}
    }
}
