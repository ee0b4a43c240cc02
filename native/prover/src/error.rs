//! Why the binary ends other than well. Each kind is an exit code.

use std::fmt;

/// What the caller can do, and the exit code that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It broke while it worked. Exit 1.
    Failed,
    /// An argument is wrong. Exit 2.
    BadArguments,
    /// Params, folder or backend cannot be used. Exit 3.
    Refused,
    /// The proof is not valid. Exit 4.
    NotValid,
}

/// An error of the binary: a kind and a sentence for a person.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error of `kind`; `message` names the argument, file or value, and the way out.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
        }
    }

    /// Exit 3.
    pub fn refused(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Refused, message)
    }

    /// The process's exit code.
    pub fn exit(&self) -> u8 {
        match self.kind {
            ErrorKind::Failed => 1,
            ErrorKind::BadArguments => 2,
            ErrorKind::Refused => 3,
            ErrorKind::NotValid => 4,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
