//! `params`: generates or checks a circuit's params and prints their digest.

use std::path::Path;

use interlock_circuits::params_for;
use interlock_pipeline::{hex, params_error, spec};

use crate::error::Error;
use crate::say::{print, say};

/// Prints the digest. Errors: `Refused`, with the reason's code.
pub fn run(folder: &Path, circuit: &str) -> Result<u8, Error> {
    let spec = spec(circuit).map_err(|error| Error::refused(error.to_string()))?;
    let said = std::sync::Mutex::new(String::new());
    let progress = |what: &str, _: f64| {
        let mut said = said
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if *said != what {
            say(format!("{what} the params of {spec}"));
            what.clone_into(&mut said);
        }
    };
    let params = params_for(folder, &spec, &progress).map_err(|error| {
        let error = params_error(&error);
        Error::refused(format!("{}: {error}", error.code().as_str()))
    })?;
    print(hex(params.digest()));
    Ok(0)
}
