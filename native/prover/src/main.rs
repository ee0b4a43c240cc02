//! The `interlock-prover` binary: `serve`, `verify`, `params`, `version`. FORMAT.md in
//! `native/timeline` specifies what it writes, hears and answers, and its exit codes.

mod args;
mod error;
mod params;
mod proof_file;
mod say;
mod serve;
mod verify;

use std::process::ExitCode;

use args::Command;
use error::Error;

/// The prover's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let result = args::parse(&arguments).and_then(|command| match command {
        Command::Serve(options) => serve::run(options),
        Command::Verify { params, file } => verify::run(&params, &file),
        Command::Params { params, circuit } => params::run(&params, &circuit),
        Command::Version => {
            say::print(format!("interlock-prover {VERSION}"));
            Ok(0)
        }
        Command::Help => {
            say::print(args::USAGE);
            Ok(0)
        }
    });
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => report(&error),
    }
}

fn report(error: &Error) -> ExitCode {
    say::say(error);
    ExitCode::from(error.exit())
}
