//! Proves one partition of each built-in circuit, prints what each stage takes, and the same for
//! bellperson's prover on the same circuit and parameters.
//!
//! ```text
//! cargo run --release -p interlock-circuits --example prove -- [threads] [constraints] [tries]
//! ```

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bellperson::groth16 as peer;
use blstrs::Bls12;
use interlock_circuits::{params_for, verify_partition, CircuitKind, CircuitSpec, Partition};
use interlock_groth16::{
    finish, prepare, synthesise, Blinding, Cpu, Device, DeviceObserver, Kernel,
    PreparedVerifyingKey, Wait,
};

/// Notes when each kernel runs.
#[derive(Default)]
struct Stopwatch {
    started: Option<Instant>,
    kernels: Vec<(Kernel, Duration)>,
}

impl DeviceObserver for Stopwatch {
    fn kernel_started(&mut self, _: Kernel) {
        self.started = Some(Instant::now());
    }

    fn kernel_ended(&mut self, kernel: Kernel) {
        let elapsed = self
            .started
            .take()
            .map(|started| started.elapsed())
            .unwrap_or_default();
        self.kernels.push((kernel, elapsed));
    }

    fn copy_started(&mut self) {}
    fn copy_ended(&mut self) {}
    fn wait_started(&mut self, _: Wait) {}
    fn wait_ended(&mut self, _: Wait) {}
    fn progress(&mut self, _: u32) {}
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// CPU time of this process and its high-water mark of memory in MiB.
fn usage() -> (f64, f64) {
    // SAFETY: all zeros is a valid `rusage`, and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (
        seconds(usage.ru_utime) + seconds(usage.ru_stime),
        usage.ru_maxrss as f64 / 1024.0,
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|argument| argument.parse::<u64>());
    let threads = numbers.next().transpose()?.unwrap_or(2) as usize;
    let constraints = numbers.next().transpose()?.unwrap_or(62_500);
    let tries = numbers.next().transpose()?.unwrap_or(3);
    let dir = std::env::temp_dir().join("interlock-params");
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    let device = Cpu::new(threads)?;
    for kind in [CircuitKind::Sha256, CircuitKind::Squarings] {
        let spec = CircuitSpec::new(kind, constraints)?;
        let started = Instant::now();
        let params = pool.install(|| params_for(&dir, &spec, &|_, _| {}))?;
        println!(
            "{spec}: params {:.2} s, {} MiB",
            started.elapsed().as_secs_f64(),
            params.bytes() >> 20
        );
        let vk = PreparedVerifyingKey::new(params.vk());
        let peer_params = {
            let mut bytes = Vec::new();
            params.write_to(&mut bytes)?;
            peer::Parameters::<Bls12>::read(&bytes[..], false)?
        };
        for index in 0..tries as u32 {
            let partition = Partition::new(spec, [7; 32], index);
            let blinding = Blinding::random()?;
            let cpu = usage().0;
            let t0 = Instant::now();
            let assignment = pool.install(|| synthesise(partition.clone()))?;
            let t1 = Instant::now();
            let held = assignment.bytes();
            let mut prepared = pool.install(|| prepare(assignment, &params, blinding))?;
            let t2 = Instant::now();
            let held = held.max(prepared.bytes());
            let mut stopwatch = Stopwatch::default();
            let output = device.prove(
                &mut prepared,
                &params,
                &mut stopwatch,
                &AtomicBool::new(false),
            )?;
            let t3 = Instant::now();
            let proof = pool.install(|| finish(prepared, output, &params))?;
            let t4 = Instant::now();
            let cpu = usage().0 - cpu;
            let valid = verify_partition(&vk, &partition, &proof.to_bytes())?;
            let t5 = Instant::now();
            let kernels: Vec<String> = stopwatch
                .kernels
                .iter()
                .map(|(kernel, time)| format!("{kernel:?} {:.0}", ms(*time)))
                .collect();
            println!(
                "  synthesis {:.0}  prepare {:.1}  device {:.0} ({})  finish {:.0}  total {:.0} ms, \
                 {cpu:.2} CPU-s, {} MiB held; verify {:.1} ms: {valid}",
                ms(t1 - t0),
                ms(t2 - t1),
                ms(t3 - t2),
                kernels.join(" "),
                ms(t4 - t3),
                ms(t4 - t0),
                held >> 20,
                ms(t5 - t4),
            );
            let cpu = usage().0;
            let started = Instant::now();
            let (r, s) = (blstrs::Scalar::from(3), blstrs::Scalar::from(5));
            let proof = peer::create_proof::<Bls12, _, _>(partition, &peer_params, r, s)?;
            std::hint::black_box(proof);
            println!(
                "  bellperson {:.0} ms, {:.2} CPU-s",
                ms(started.elapsed()),
                usage().0 - cpu
            );
        }
    }
    println!("peak RSS of all this {:.0} MiB", usage().1);
    Ok(())
}
