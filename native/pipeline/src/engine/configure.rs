//! Runs: a new scheduler for a pipeline that nothing is in. Params stay, workers are raised or rest.

use std::sync::Arc;

use interlock_timeline::{Notice, Phase, RunEnd, WorkerIs};

use super::shared::Slot;
use super::threads::{spawn, spawn_worker};
use super::{internal, synthesiser, Engine};
use crate::{Error, ErrorKind, Scheduler};

impl Engine {
    /// Begins a run under a scheduler. Params stay loaded.
    ///
    /// Errors: `Draining`, `NotQuiescent`, `InvalidConfig`, `BudgetTooSmall`, `RestartNeeded`,
    /// `BackendUnavailable`; then nothing changed, and the journal says so.
    pub fn configure(
        &self,
        run: &str,
        scheduler: Scheduler,
        emulate: Option<&str>,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let result = self.try_configure(run, scheduler, emulate);
        if let Err(error) = &result {
            let run = run.to_owned();
            shared.timeline.notify(Notice::ConfigureRefused {
                run,
                failure: error.failure(),
            });
        }
        result
    }

    fn try_configure(
        &self,
        run: &str,
        scheduler: Scheduler,
        emulate: Option<&str>,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        scheduler.validate()?;
        let (phase, quiescent, params, old) = {
            let inner = shared.lock();
            let quiescent = inner.board.is_quiescent();
            (
                inner.phase,
                quiescent,
                inner.params_bytes(),
                inner.run.clone(),
            )
        };
        if phase == Phase::Draining {
            return Err(Error::new(ErrorKind::Draining, "the prover is draining"));
        }
        if !quiescent {
            let message = "a proof is here; wait for it, withdraw it, or drain";
            return Err(Error::new(ErrorKind::NotQuiescent, message));
        }
        // One partition of something must fit beside what is loaded.
        scheduler.check_budget(params, 1, 1, crate::scheduler::POST_PRIORITY)?;
        shared.backend.configure(&scheduler, emulate)?;
        if let Some(run) = old {
            shared.timeline.notify(Notice::RunEnded {
                run,
                reason: RunEnd::Configured,
            });
        }
        shared.timeline.notify(Notice::RunStarted {
            run: run.to_owned(),
            scheduler: (&scheduler).into(),
            emulate: emulate.map(str::to_owned),
        });
        let (gpu_workers, synthesis_workers) = (scheduler.gpu_workers, scheduler.synthesis_workers);
        {
            let mut inner = shared.lock();
            inner.run = Some(run.to_owned());
            inner.board.set_scheduler(scheduler);
            inner.board.set_params_bytes(params);
            inner.workers.retain(|slot| slot.now().is != WorkerIs::Dead);
        }
        self.raise_workers(gpu_workers, synthesis_workers)?;
        // Those that this run does not need go to rest, and must not take another's wake-up.
        shared.resting.notify_all();
        shared.dispatch.notify_all();
        shared.queue.notify_all();
        Ok(())
    }

    /// Starts the workers that this run needs and no run before has needed.
    fn raise_workers(&self, gpu_workers: u32, synthesis_workers: u32) -> Result<(), Error> {
        let shared = &self.shared;
        for device in 0..shared.devices.len() {
            for rank in 0..gpu_workers {
                let there = |slot: &Arc<Slot>| slot.device == device && slot.rank == rank;
                if !shared.lock().workers.iter().any(there) {
                    spawn_worker(shared, device, rank)?;
                }
            }
        }
        let there = shared.lock().synthesisers.len();
        for rank in u32::try_from(there).unwrap_or(u32::MAX)..synthesis_workers {
            let number = u16::try_from(rank).map_err(internal)?;
            let slot = Arc::new(Slot::new(number, 0, rank, shared.clock.now_ns()));
            let name = format!("synth-{number}");
            let emitter = shared.timeline.emitter(&name).map_err(internal)?;
            shared.lock().synthesisers.push(slot.clone());
            let shared = shared.clone();
            spawn(&name, move || synthesiser::run(&shared, &slot, emitter))?;
        }
        Ok(())
    }
}
