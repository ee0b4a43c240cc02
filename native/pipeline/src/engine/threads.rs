//! How the pipeline's threads are started, each under its name.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::shared::{Shared, Slot};
use super::{internal, worker};
use crate::Error;

/// Starts a GPU worker of a rank at a device, under a number that no worker had before.
pub(super) fn spawn_worker(shared: &Arc<Shared>, device: usize, rank: u32) -> Result<(), Error> {
    let slot = {
        let mut inner = shared.lock();
        let number = inner.next_worker;
        inner.next_worker = number
            .checked_add(1)
            .ok_or_else(|| internal("too many workers"))?;
        let slot = Arc::new(Slot::new(number, device, rank, shared.clock.now_ns()));
        inner.workers.push(slot.clone());
        slot
    };
    let name = format!("gpu-{}", slot.number);
    let emitter = shared.timeline.emitter(&name).map_err(internal)?;
    let shared = shared.clone();
    spawn(&name, move || worker::run(&shared, &slot, emitter))
}

/// Starts a thread. The system may be out of them for a moment, so it is tried a few times.
pub(super) fn spawn(name: &str, life: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let life = Arc::new(Mutex::new(Some(life)));
    let mut tries = 0;
    loop {
        let life = life.clone();
        let start = move || {
            let life = life.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(life) = life {
                life();
            }
        };
        match std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(start)
        {
            Ok(_) => return Ok(()),
            Err(error) if tries == 5 => {
                return Err(internal(format!("no thread for {name}: {error}")));
            }
            Err(_) => tries += 1,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
