//! A partition's way through the stages of Groth16.

use std::sync::Arc;

use interlock_groth16 as groth16;
use interlock_groth16::{
    Assignment, Blinding, Device, DeviceObserver, DeviceOutput, Prepared, Scalar,
};
use interlock_timeline::{Emitter, Event, Kernel, Partition, Wait, Worker};

use super::{Library, Pools, Resident};
use crate::backend::{Task, Work};
use crate::board::PartitionProof;
use crate::{Error, ErrorKind};

pub(super) struct Proving {
    pools: Arc<Pools>,
    params: Library,
    public_inputs: Vec<[u8; 32]>,
    stage: Stage,
}

enum Stage {
    Synthesised(Assignment),
    Prepared(Arc<Resident>, Box<Prepared>),
    Computed(Arc<Resident>, Box<Prepared>, Box<DeviceOutput>),
    /// Between two stages, or after one that failed.
    Gone,
}

impl Proving {
    pub(super) fn new(pools: Arc<Pools>, params: Library, assignment: Assignment) -> Proving {
        let public_inputs = assignment
            .public_inputs()
            .iter()
            .map(Scalar::to_bytes_le)
            .collect();
        Proving {
            pools,
            params,
            public_inputs,
            stage: Stage::Synthesised(assignment),
        }
    }
}

impl Work for Proving {
    fn prepare(&mut self, task: &Task<'_>) -> Result<(), Error> {
        let Stage::Synthesised(assignment) = std::mem::replace(&mut self.stage, Stage::Gone) else {
            return Err(out_of_order());
        };
        let resident = self.params.get(&task.what.circuit).ok_or_else(|| {
            Error::new(
                ErrorKind::Internal,
                "picked up before its params were resident",
            )
        })?;
        let blinding = Blinding::random().map_err(|error| stage_error(&error))?;
        let prepared = self
            .pools
            .host
            .install(|| groth16::prepare(assignment, &resident.params, blinding))
            .map_err(|error| stage_error(&error))?;
        task.step();
        self.stage = Stage::Prepared(resident, Box::new(prepared));
        Ok(())
    }

    fn device(&mut self, task: &Task<'_>, at: Worker, emitter: &mut Emitter) -> Result<(), Error> {
        let Stage::Prepared(resident, mut prepared) =
            std::mem::replace(&mut self.stage, Stage::Gone)
        else {
            return Err(out_of_order());
        };
        let mut teller = Teller {
            id: task.id,
            at,
            emitter,
            task,
        };
        let stop = &task.stop.working;
        let output = self
            .pools
            .device
            .prove(&mut prepared, &resident.params, &mut teller, stop)
            .map_err(|error| stage_error(&error))?;
        self.stage = Stage::Computed(resident, prepared, Box::new(output));
        Ok(())
    }

    fn finish(self: Box<Self>, task: &Task<'_>) -> Result<Option<PartitionProof>, Error> {
        let Proving {
            pools,
            public_inputs,
            stage,
            ..
        } = *self;
        let Stage::Computed(resident, prepared, output) = stage else {
            return Err(out_of_order());
        };
        let proof = pools
            .host
            .install(|| groth16::finish(*prepared, *output, &resident.params))
            .map_err(|error| stage_error(&error))?;
        task.step();
        Ok(Some(PartitionProof {
            public_inputs,
            proof: proof.to_bytes(),
        }))
    }
}

fn out_of_order() -> Error {
    Error::new(ErrorKind::Internal, "a stage was called out of order")
}

fn stage_error(error: &groth16::Error) -> Error {
    let kind = match error.kind() {
        groth16::ErrorKind::Cancelled => ErrorKind::Cancelled,
        groth16::ErrorKind::ParamsMismatch => ErrorKind::ParamsWrongCircuit,
        groth16::ErrorKind::ParamsBadPoint => ErrorKind::ParamsBadPoint,
        groth16::ErrorKind::OutOfOrder => ErrorKind::Internal,
        _ => ErrorKind::DeviceFailed,
    };
    Error::new(kind, error.message())
}

/// Tells the journal of a device stage, from the worker's thread.
struct Teller<'a> {
    id: Partition,
    at: Worker,
    emitter: &'a mut Emitter,
    task: &'a Task<'a>,
}

fn kernel(kernel: groth16::Kernel) -> Kernel {
    match kernel {
        groth16::Kernel::Ntt => Kernel::Ntt,
        groth16::Kernel::HMsm => Kernel::HMsm,
        groth16::Kernel::LMsm => Kernel::LMsm,
        groth16::Kernel::AMsm => Kernel::AMsm,
        groth16::Kernel::B1Msm => Kernel::B1Msm,
    }
}

fn wait(wait: groth16::Wait) -> Wait {
    match wait {
        groth16::Wait::Barrier => Wait::Barrier,
        groth16::Wait::Alloc => Wait::Alloc,
        groth16::Wait::Host => Wait::Host,
    }
}

impl DeviceObserver for Teller<'_> {
    fn kernel_started(&mut self, which: groth16::Kernel) {
        self.emitter
            .emit(Event::kernel_started(self.id, self.at, 0, kernel(which)));
    }

    fn kernel_ended(&mut self, which: groth16::Kernel) {
        self.emitter
            .emit(Event::kernel_ended(self.id, self.at, 0, kernel(which)));
    }

    fn copy_started(&mut self) {
        self.emitter.emit(Event::copy_started(self.id, self.at, 0));
    }

    fn copy_ended(&mut self) {
        self.emitter.emit(Event::copy_ended(self.id, self.at, 0));
    }

    fn wait_started(&mut self, why: groth16::Wait) {
        self.emitter
            .emit(Event::wait_started(self.id, self.at, wait(why)));
    }

    fn wait_ended(&mut self, why: groth16::Wait) {
        self.emitter
            .emit(Event::wait_ended(self.id, self.at, wait(why)));
    }

    fn progress(&mut self, _: u32) {
        self.task.step();
    }
}
