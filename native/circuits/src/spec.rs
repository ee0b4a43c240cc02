//! Which circuit: its kind and its size.

use std::fmt;
use std::str::FromStr;

use crate::{sha256, squarings, Error, ErrorKind};

/// The kind of a built-in circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CircuitKind {
    /// A SHA-256 preimage: a witness of almost only zeros and ones.
    Sha256,
    /// A chain of squarings: a witness of full-width scalars only.
    Squarings,
}

impl CircuitKind {
    /// The name in files and on screen.
    pub fn name(self) -> &'static str {
        match self {
            CircuitKind::Sha256 => "sha256",
            CircuitKind::Squarings => "squarings",
        }
    }
}

/// A built-in circuit of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CircuitSpec {
    /// Its kind.
    pub kind: CircuitKind,
    /// Constraints asked for; [`CircuitSpec::actual_constraints`] says what it has.
    pub constraints: u64,
}

/// Constraints of a partition unless the operator says otherwise.
const DEFAULT_CONSTRAINTS: u64 = 62_500;

/// The most constraints that a built-in circuit may have.
const MAX_CONSTRAINTS: u64 = 1 << 27;

impl CircuitSpec {
    /// A circuit of about `constraints`.
    ///
    /// Errors: `BadSpec` for 0 or more than 2^27.
    pub fn new(kind: CircuitKind, constraints: u64) -> Result<CircuitSpec, Error> {
        if constraints == 0 || constraints > MAX_CONSTRAINTS {
            return Err(Error::new(
                ErrorKind::BadSpec,
                format!("a circuit has 1 to {MAX_CONSTRAINTS} constraints, not {constraints}"),
            ));
        }
        Ok(CircuitSpec { kind, constraints })
    }

    /// The usual size of a kind: 62,500 constraints, a domain of 2^16.
    pub fn usual(kind: CircuitKind) -> CircuitSpec {
        CircuitSpec {
            kind,
            constraints: DEFAULT_CONSTRAINTS,
        }
    }

    /// The constraints that the circuit has, the closing ones of its public variables included:
    /// those asked for, or the kind's least number if that is more (one SHA-256 block, or one
    /// squaring).
    pub fn actual_constraints(&self) -> u64 {
        match self.kind {
            CircuitKind::Sha256 => self.constraints.max(sha256::LEAST_CONSTRAINTS),
            CircuitKind::Squarings => self.constraints.max(squarings::LEAST_CONSTRAINTS),
        }
    }

    /// Elements of the evaluation domain.
    pub fn domain(&self) -> u64 {
        self.actual_constraints().next_power_of_two()
    }

    /// Public inputs of a partition, the constant one not counted.
    pub fn public_inputs(&self) -> usize {
        match self.kind {
            CircuitKind::Sha256 => 2,
            CircuitKind::Squarings => 1,
        }
    }
}

impl fmt::Display for CircuitSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind.name(), self.actual_constraints())
    }
}

impl FromStr for CircuitSpec {
    type Err = Error;

    /// `sha256`, `sha256-62500`, `squarings`, `squarings-65536`.
    fn from_str(text: &str) -> Result<CircuitSpec, Error> {
        let unknown = || {
            Error::new(
                ErrorKind::BadSpec,
                format!("`{text}` is no circuit; say `sha256-62500` or `squarings-62500`"),
            )
        };
        let (name, size) = match text.split_once('-') {
            Some((name, size)) => (name, Some(size)),
            None => (text, None),
        };
        let kind = match name {
            "sha256" => CircuitKind::Sha256,
            "squarings" => CircuitKind::Squarings,
            _ => return Err(unknown()),
        };
        match size {
            None => Ok(CircuitSpec::usual(kind)),
            Some(size) => CircuitSpec::new(kind, size.parse().map_err(|_| unknown())?),
        }
    }
}
