//! The parameters of the built-in circuits: one file a circuit, generated once.

use std::path::{Path, PathBuf};

use interlock_groth16::Params;

use crate::{CircuitSpec, Error};

/// Where the parameters of `spec` live: `<dir>/<kind>-<constraints>.params`.
pub fn params_path(dir: &Path, spec: &CircuitSpec) -> PathBuf {
    dir.join(format!("{spec}.params"))
}

/// Opens the parameters of `spec` in `dir`, or generates them there.
pub fn params_for(
    dir: &Path,
    spec: &CircuitSpec,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<Params, Error> {
    progress("reading", 0.0);
    Ok(Params::open(&params_path(dir, spec))?)
}
