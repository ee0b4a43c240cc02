//! What the machine says of itself and of this process, from /proc.

use std::fs;

/// Facts for `hello`, and the process's memory for `state`. A test gives its own.
#[derive(Clone, Debug)]
pub struct Machine {
    /// This process's id.
    pub pid: u32,
    /// Its start, /proc/PID/stat field 22: with the pid it names the process once and for all in a boot.
    pub start_ticks: u64,
    /// This boot's id.
    pub boot_id: String,
    /// Processors that the process may use.
    pub host_cpus: u32,
    /// The machine's memory.
    pub memory_total_bytes: u64,
    /// Reads (resident bytes, their peak) of this process.
    pub memory: fn() -> (u64, u64),
}

impl Machine {
    /// Reads them; what cannot be read is 0 or empty.
    pub fn read() -> Machine {
        Machine {
            pid: std::process::id(),
            start_ticks: start_ticks(&fs::read_to_string("/proc/self/stat").unwrap_or_default()),
            boot_id: fs::read_to_string("/proc/sys/kernel/random/boot_id")
                .unwrap_or_default()
                .trim()
                .to_owned(),
            host_cpus: std::thread::available_parallelism().map_or(0, |n| n.get() as u32),
            memory_total_bytes: kib(
                &fs::read_to_string("/proc/meminfo").unwrap_or_default(),
                "MemTotal:",
            ),
            memory: || {
                let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
                (kib(&status, "VmRSS:"), kib(&status, "VmHWM:"))
            },
        }
    }
}

/// Field 22; the second field is a name in parentheses that may itself hold blanks and parentheses.
fn start_ticks(stat: &str) -> u64 {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name
        .split_ascii_whitespace()
        .nth(19)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}

fn kib(text: &str, key: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .unwrap_or("");
    line.split_ascii_whitespace()
        .next()
        .and_then(|n| n.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_this_machine() {
        let machine = Machine::read();
        let (rss, peak) = (machine.memory)();
        assert!(machine.start_ticks > 0 && machine.boot_id.len() == 36 && machine.host_cpus > 0);
        assert!(rss > 0 && peak >= rss && machine.memory_total_bytes > peak);
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(start_ticks(stat), 4711);
    }
}
