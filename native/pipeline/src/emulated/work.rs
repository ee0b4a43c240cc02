//! An emulated partition's way through its stages.

use std::sync::atomic::AtomicU64;
use std::sync::{mpsc, Arc, PoisonError};

use interlock_timeline::{Emitter, Event, Kernel, Partition, Wait, Worker};

use super::device::{Launch, OwnClock, Report};
use super::{Device, Spec, Stage, Told};
use crate::backend::{Task, Work};
use crate::board::PartitionProof;
use crate::{wait, Error, ErrorKind};

pub(crate) struct Emulation {
    pub spec: Arc<Spec>,
    pub devices: Arc<Vec<Device>>,
}

/// A stage on the host: it waits.
pub(crate) fn pass(task: &Task<'_>, spec: &Spec, ns: u64, stage: Stage) -> Result<(), Error> {
    // Emulated stages stand for cores that this machine need not have, and take none themselves.
    wait::take_precedence();
    let ns = spec.jittered(ns, &task.what.proof, task.id.partition, stage);
    let t = task.clock.now_ns() + ns;
    if wait::until_or_stopped(task.clock, t, task.progress, &task.stop.working) {
        Ok(())
    } else {
        Err(cancelled())
    }
}

fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "told to stop")
}

impl Work for Emulation {
    fn prepare(&mut self, task: &Task<'_>) -> Result<(), Error> {
        pass(task, &self.spec, self.spec.prepare_ns, Stage::Prepare)
    }

    fn device(&mut self, task: &Task<'_>, at: Worker, _: &mut Emitter) -> Result<(), Error> {
        let (spec, proof, partition) = (&self.spec, &task.what.proof, task.id.partition);
        let fault = |message: &str| Error::new(ErrorKind::DeviceFailed, message);
        let device = self
            .devices
            .iter()
            .find(|d| d.id == at.device)
            .ok_or_else(|| fault("no such emulated device"))?;
        let is = |target: &Option<super::Target>| {
            target.as_ref().is_some_and(|t| t.is(proof, partition))
        };
        if is(&spec.panic) {
            std::panic::resume_unwind(Box::new("emulated panic".to_owned()));
        }
        let (reply, report) = mpsc::channel();
        let progress = Arc::new(AtomicU64::new(0));
        let launch = Launch {
            proof: proof.clone(),
            partition,
            copy_ns: spec.copy_ns,
            kernels_ns: spec.jittered(spec.kernels_ns, proof, partition, Stage::Kernels),
            gap_ns: spec.gap_ns,
            hang: is(&spec.hang),
            stop: task.stop.clone(),
            progress: progress.clone(),
            reply,
        };
        let mut told = device.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.emitter.begin();
        told.read_clock(at, &device.own);
        let launched = task.clock.now_ns();
        let sent = device
            .launches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .send(launch);
        let report = sent.ok().and_then(|()| wait_for(task, &report, &progress));
        let done = task.clock.now_ns();
        if let Some(report) = &report {
            told.tell(task.id, at, &device.own, report, (launched, done));
        }
        told.emitter.clear();
        match report {
            None => Err(fault("the emulated device is gone")),
            Some(report) if report.stopped => Err(cancelled()),
            Some(_) if is(&spec.fail) => Err(fault("emulated failure")),
            Some(_) => Ok(()),
        }
    }

    fn finish(self: Box<Self>, task: &Task<'_>) -> Result<Option<PartitionProof>, Error> {
        pass(task, &self.spec, self.spec.finish_ns, Stage::Finish)?;
        Ok(None)
    }
}

/// Waits for the device's report; the worker's counter rises only as the device's does.
fn wait_for(
    task: &Task<'_>,
    report: &mpsc::Receiver<Report>,
    progress: &AtomicU64,
) -> Option<Report> {
    use std::sync::atomic::Ordering::Relaxed;
    let mut seen = 0;
    loop {
        match report.recv_timeout(std::time::Duration::from_millis(100)) {
            Ok(report) => return Some(report),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let now = progress.load(Relaxed);
                if std::mem::replace(&mut seen, now) != now {
                    task.step();
                }
            }
        }
    }
}

impl Told {
    /// Takes a sample of the device's clock into the map and the journal.
    fn read_clock(&mut self, at: Worker, own: &OwnClock) {
        let sample = own.sample();
        if self.map.push(sample) {
            let event = Event::clock_map(at.device, sample.device_ns, sample.error_ns);
            self.emitter.emit_at(sample.t, event);
        }
    }

    /// Tells of a launch that is over. What happened did so between the launch and the report, so
    /// a stamp that the mapping's error puts outside is moved to the edge.
    fn tell(
        &mut self,
        id: Partition,
        at: Worker,
        own: &OwnClock,
        report: &Report,
        (launched, done): (u64, u64),
    ) {
        // The sample after the kernels makes every stamp lie between two samples.
        let sample = own.sample();
        let sampled = self.map.push(sample);
        let mut emit = |device_ns: u64, event: Event| {
            let t = self.map.map(device_ns).map_or(done, |mapped| mapped.t);
            self.emitter.emit_at(t.clamp(launched, done), event);
        };
        if let Some((start, end)) = report.copy {
            emit(start, Event::copy_started(id, at, 0));
            emit(end, Event::copy_ended(id, at, 0));
        }
        let mut idle_since = None;
        for (start, end) in &report.kernels {
            if let Some(since) = idle_since {
                emit(since, Event::wait_started(id, at, Wait::Host));
                emit(*start, Event::wait_ended(id, at, Wait::Host));
            }
            emit(*start, Event::kernel_started(id, at, 0, Kernel::Emulated));
            emit(*end, Event::kernel_ended(id, at, 0, Kernel::Emulated));
            idle_since = Some(*end);
        }
        if sampled {
            let event = Event::clock_map(at.device, sample.device_ns, sample.error_ns);
            self.emitter.emit_at(sample.t, event);
        }
    }
}
