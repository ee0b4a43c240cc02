//! What can go wrong in this crate, named by what the caller can do about it.

use std::fmt;

/// What a caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no circuit of that kind or size. Refuse the request.
    BadSpec,
    /// The parameter file is not the one whose digest was written beside it. Move it away and
    /// let it be generated again, or restore it.
    ParamsAltered,
    /// The folder of the parameters cannot be used. Look at its permissions and space.
    FolderUnusable,
    /// The prover's own error; see its kinds.
    Groth16(interlock_groth16::ErrorKind),
}

/// An error of this crate: a kind to branch on and a sentence for a person.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
        }
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence for a person. Branch on [`Error::kind`], never on this text.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<interlock_groth16::Error> for Error {
    fn from(error: interlock_groth16::Error) -> Self {
        Error::new(ErrorKind::Groth16(error.kind()), error.message())
    }
}
