//! stub
use std::io::Write;
use std::path::Path;
use super::Params;
use crate::{Error, ErrorKind};

pub(super) fn open(path: &Path, _progress: &(dyn Fn(f64) + Sync)) -> Result<Params, Error> {
    Err(Error::new(ErrorKind::ParamsMissing, path.display().to_string()))
}
pub(super) fn write(_params: &Params, _out: &mut dyn Write) -> std::io::Result<()> { Ok(()) }
pub(super) fn save(_params: &Params, path: &Path) -> Result<(), Error> {
    Err(Error::new(ErrorKind::ParamsUnwritable, path.display().to_string()))
}
