//! Tests that look inside: the writer is driven by hand, on a file in memory.

mod faults;
mod golden;
mod horizon;
mod loss;
mod scene;

use std::io;
use std::sync::{Arc, Mutex};

use crate::journal::Journal;
use crate::shared::{relock, Request, Shared};
use crate::sink::Sink;
use crate::timeline::{add_device_emitter, add_emitter, prepare};
use crate::writer::Writer;
use crate::*;

/// What the next calls to the file do.
#[derive(Default)]
pub(crate) struct Faults {
    /// The file cannot grow beyond this.
    pub(crate) room: Option<u64>,
    /// No write takes more bytes than this.
    pub(crate) at_once: Option<usize>,
    /// Error of every write, truncation, fsync.
    pub(crate) write: Option<i32>,
    pub(crate) truncate: Option<i32>,
    pub(crate) sync: Option<i32>,
    /// After a failed fsync the bytes since the last good one are gone from the disk, unless written again.
    pub(crate) syncs: u32,
}

/// A file in memory.
#[derive(Clone, Default)]
pub(crate) struct Memory(pub(crate) Arc<Mutex<(Vec<u8>, Faults)>>);

impl Memory {
    pub(crate) fn set(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.0.lock().unwrap().1);
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().0.clone()).unwrap()
    }

    /// The whole file, decoded line by line.
    pub(crate) fn lines(&self) -> Vec<serde_json::Value> {
        decode(&self.text())
    }
}

pub(crate) fn decode(text: &str) -> Vec<serde_json::Value> {
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "a torn tail: {:?}",
        text.lines().last()
    );
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

/// The numbers are 0, 1, 2 … and every `upto` is the number before it.
pub(crate) fn check_numbers(lines: &[serde_json::Value]) {
    let mut last = -1;
    for line in lines {
        match (line["seq"].as_i64(), line["upto"].as_i64()) {
            (Some(seq), None) => {
                assert_eq!(seq, last + 1, "{line}");
                last = seq;
            }
            (None, Some(upto)) => assert_eq!(upto, last, "{line}"),
            _ => panic!("neither seq nor upto: {line}"),
        }
    }
}

impl Sink for Memory {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let (file, faults) = &mut *self.0.lock().unwrap();
        if let Some(code) = faults.write {
            return Err(io::Error::from_raw_os_error(code));
        }
        let mut take = bytes.len().min(faults.at_once.unwrap_or(usize::MAX));
        if let Some(room) = faults.room {
            take = take.min(room.saturating_sub(offset) as usize);
            if take == 0 {
                return Err(io::Error::from_raw_os_error(libc::ENOSPC));
            }
        }
        let end = offset as usize + take;
        file.resize(file.len().max(end), 0);
        file[offset as usize..end].copy_from_slice(&bytes[..take]);
        Ok(take)
    }

    fn read_at(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let (file, _) = &*self.0.lock().unwrap();
        let rest = file.get(offset as usize..).unwrap_or_default();
        let take = rest.len().min(bytes.len());
        bytes[..take].copy_from_slice(&rest[..take]);
        Ok(take)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let (file, faults) = &mut *self.0.lock().unwrap();
        if let Some(code) = faults.truncate {
            return Err(io::Error::from_raw_os_error(code));
        }
        file.truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let (_, faults) = &mut *self.0.lock().unwrap();
        faults.syncs += 1;
        faults
            .sync
            .map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(code)))
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A timeline without its thread.
pub(crate) struct Bench {
    pub(crate) shared: Arc<Shared>,
    pub(crate) writer: Writer<Memory>,
    pub(crate) file: Memory,
    pub(crate) hands: ManualClock,
    pub(crate) records: usize,
}

pub(crate) fn machine() -> Machine {
    Machine {
        pid: 4711,
        start_ticks: u64::MAX,
        boot_id: "3f0c6b1e-8f6c-4f4e-9a53-0d2f1c6b7a89".into(),
        host_cpus: 2,
        memory_total_bytes: 8_589_934_592,
        memory: || (104_857_600, 209_715_200),
    }
}

pub(crate) fn hello() -> Hello {
    let device = |device: &str, kind, clock| Device {
        device: device.into(),
        kind,
        name: "Emulated \"device\" – für Tests".into(),
        workers_max: 2,
        clock,
    };
    Hello {
        process: "0b6b3a52-5f0e-4c39-8f0a-6f4f7f3f7a10".into(),
        version: "0.1.0".into(),
        backend: Backend::Emulated,
        devices: vec![
            device("emu0", Backend::Emulated, DeviceClock::Own),
            device("cpu0", Backend::Cpu, DeviceClock::Host),
            device("GPU-5e2d7c1a", Backend::Cuda, DeviceClock::Own),
        ],
        grace_ns: 600_000_000_000,
    }
}

pub(crate) fn options(clock: Clock) -> Options {
    Options {
        path: "in-memory".into(),
        hello: hello(),
        clock,
        ring_records: 1 << 10,
        machine: machine(),
        waiting_bytes: 64 << 20,
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let (clock, hands) = Clock::manual();
        Bench::with(options(clock), hands)
    }

    pub(crate) fn with(options: Options, hands: ManualClock) -> Bench {
        let file = Memory::default();
        let (shared, writer) = prepare(&options, file.clone()).unwrap();
        Bench {
            shared,
            writer,
            file,
            hands,
            records: options.ring_records,
        }
    }

    pub(crate) fn emitter(&self, name: &str) -> Emitter {
        add_emitter(&self.shared, name, self.records)
    }

    pub(crate) fn device_emitter(&self, name: &str) -> DeviceEmitter {
        add_device_emitter(&self.shared, name.into(), self.records)
    }

    pub(crate) fn proof(&self, id: &str) -> ProofId {
        ProofId(self.shared.proofs.intern(id, u32::MAX).unwrap())
    }

    pub(crate) fn round(&mut self) {
        self.writer.round(Request::default());
    }

    /// The newest mark's stamp.
    pub(crate) fn marked(&self) -> u64 {
        let lines = self.file.lines();
        lines
            .iter()
            .rev()
            .find(|l| l["e"] == "mark")
            .and_then(|l| l["t"].as_u64())
            .unwrap()
    }

    pub(crate) fn journal(&mut self) -> &mut Journal<Memory> {
        self.writer.journal()
    }
}
