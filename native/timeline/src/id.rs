//! Small integers for the ids that events carry, and the table that turns them back into text.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::{Error, ErrorKind};

/// A proof's id in this process's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProofId(pub(crate) u32);

/// A device's id in this process's table: the devices of `hello` count from 0 in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub(crate) u16);

/// One try at one partition: what the specification calls **P**.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    /// The proof it belongs to.
    pub proof: ProofId,
    /// Counts tries at the proof, from 1.
    pub attempt: u32,
    /// Its number within the proof, from 0.
    pub partition: u32,
}

/// A GPU worker and the device it feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Worker {
    /// Its device.
    pub device: DeviceId,
    /// Its number, unique in the process.
    pub worker: u16,
}

/// Strings by small integers. Only grows: the writer may still have to name what was dropped long ago.
#[derive(Debug, Default)]
pub(crate) struct Names(RwLock<Table>);

#[derive(Debug, Default)]
struct Table {
    list: Vec<Arc<str>>,
    index: HashMap<Arc<str>, u32>,
}

impl Names {
    /// The number of a name, the same for the same name.
    pub(crate) fn intern(&self, name: &str, at_most: u32) -> Result<u32, Error> {
        if !is_id(name) {
            return Err(Error::new(
                ErrorKind::InvalidId,
                format!("not an id: {:?}", shorten(name)),
            ));
        }
        if let Some(index) = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .index
            .get(name)
        {
            return Ok(*index);
        }
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = table.index.get(name) {
            return Ok(*index);
        }
        let index = table.list.len();
        if index >= at_most as usize {
            return Err(Error::new(
                ErrorKind::InvalidId,
                "too many ids in one process",
            ));
        }
        let name: Arc<str> = name.into();
        table.list.push(name.clone());
        table.index.insert(name, index as u32);
        Ok(index as u32)
    }

    /// The name behind a number; `?` for a number of another process's table, which the types keep out.
    pub(crate) fn name(&self, index: u32) -> Arc<str> {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        table
            .list
            .get(index as usize)
            .cloned()
            .unwrap_or_else(|| "?".into())
    }

    /// Copies the names that `have` does not hold yet, so that the writer names events without the table's lock.
    pub(crate) fn copy_into(&self, have: &mut Vec<Arc<str>>) {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(new) = table.list.get(have.len()..) {
            have.extend_from_slice(new);
        }
    }
}

/// Whether a text is an id: 1-64 of `[A-Za-z0-9._-]`.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}
