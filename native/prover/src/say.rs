//! Words for people. Whoever read them may be gone, and that must not end a prover: `eprintln!` and
//! `println!` panic then, these do not.

use std::fmt::Display;
use std::io::Write;

/// A line on standard error.
pub fn say(message: impl Display) {
    let _ = writeln!(std::io::stderr(), "interlock-prover: {message}");
}

/// A line on standard output.
pub fn print(line: impl Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
