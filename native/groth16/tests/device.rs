//! What a device tells while it computes, and how it is stopped.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code; clippy only knows it in #[test] functions"
)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use interlock_groth16::{
    cuda, prepare, synthesise, Backend, Blinding, Cpu, Device, DeviceObserver, ErrorKind, Kernel,
    Wait, DEVICE_STEPS,
};
use support::{Mixed, Secrets};

/// Writes down what it hears, and sets `cancel` when `stop_after` kernels have ended.
struct Notes<'a> {
    heard: Vec<String>,
    open: Option<Kernel>,
    stop_after: u32,
    cancel: &'a AtomicBool,
}

impl DeviceObserver for Notes<'_> {
    fn kernel_started(&mut self, kernel: Kernel) {
        assert_eq!(self.open, None, "kernels do not nest");
        self.open = Some(kernel);
    }

    fn kernel_ended(&mut self, kernel: Kernel) {
        assert_eq!(self.open.take(), Some(kernel));
        self.heard.push(format!("{kernel:?}"));
    }

    fn copy_started(&mut self) {
        panic!("the CPU device copies nothing");
    }

    fn copy_ended(&mut self) {}

    fn wait_started(&mut self, _: Wait) {
        assert_eq!(self.open, None, "no kernel runs while the worker waits");
    }

    fn wait_ended(&mut self, _: Wait) {}

    fn progress(&mut self, steps_done: u32) {
        self.heard.push(steps_done.to_string());
        if steps_done == self.stop_after {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn kernels_are_told_in_order_and_a_partition_goes_through_once() {
    let circuit = Mixed { steps: 50, seed: 1 };
    let params = Secrets::of(1).ours(circuit.clone());
    let mut prepared = prepare(
        synthesise(circuit).unwrap(),
        &params,
        Blinding::random().unwrap(),
    )
    .unwrap();
    let device = Cpu::new(2).unwrap();
    assert_eq!(
        (device.backend(), device.name().as_str()),
        (Backend::Cpu, "CPU, 2 threads")
    );
    let cancel = AtomicBool::new(false);
    let mut notes = Notes {
        heard: vec![],
        open: None,
        stop_after: u32::MAX,
        cancel: &cancel,
    };
    device
        .prove(&mut prepared, &params, &mut notes, &cancel)
        .unwrap();
    assert_eq!(notes.heard.join(" "), "Ntt 1 HMsm 2 LMsm 3 AMsm 4 B1Msm 5");
    assert_eq!(DEVICE_STEPS, 5);
    let again = device.prove(&mut prepared, &params, &mut notes, &cancel);
    assert_eq!(again.unwrap_err().kind(), ErrorKind::OutOfOrder);
}

#[test]
fn a_cancelled_stage_ends_before_its_next_kernel() {
    let circuit = Mixed { steps: 50, seed: 1 };
    let params = Secrets::of(1).ours(circuit.clone());
    let device = Cpu::new(1).unwrap();
    for stop_after in 1..DEVICE_STEPS {
        let assignment = synthesise(circuit.clone()).unwrap();
        let mut prepared = prepare(assignment, &params, Blinding::random().unwrap()).unwrap();
        let cancel = AtomicBool::new(false);
        let mut notes = Notes {
            heard: vec![],
            open: None,
            stop_after,
            cancel: &cancel,
        };
        let error = device
            .prove(&mut prepared, &params, &mut notes, &cancel)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(notes.heard.len(), 2 * stop_after as usize);
        assert_eq!(notes.open, None);
    }
}

#[test]
fn parameters_of_another_circuit_or_setup_are_refused() {
    let circuit = Mixed { steps: 50, seed: 1 };
    let params = Secrets::of(1).ours(circuit.clone());
    let larger = Secrets::of(1).ours(Mixed { steps: 51, seed: 1 });
    let assignment = synthesise(circuit.clone()).unwrap();
    let error = prepare(assignment, &larger, Blinding::random().unwrap())
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::ParamsMismatch);

    let other_setup = Secrets::of(2).ours(circuit.clone());
    let assignment = synthesise(circuit).unwrap();
    let mut prepared = prepare(assignment, &params, Blinding::random().unwrap()).unwrap();
    let cancel = AtomicBool::new(false);
    let mut notes = Notes {
        heard: vec![],
        open: None,
        stop_after: u32::MAX,
        cancel: &cancel,
    };
    let device = Cpu::new(1).unwrap();
    let error = device
        .prove(&mut prepared, &other_setup, &mut notes, &cancel)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ParamsMismatch);
    assert!(notes.heard.is_empty());
}

#[test]
fn a_device_that_cannot_be_had_says_so() {
    assert_eq!(
        Cpu::new(0).err().unwrap().kind(),
        ErrorKind::BackendUnavailable
    );
    assert_eq!(
        cuda::Cuda::new(0).unwrap_err().kind(),
        ErrorKind::BackendUnavailable
    );
}
