//! Signals and the lifeline: threads that wait, and tell the serving thread.

use std::io::Read;
use std::sync::mpsc::Sender;

use super::control::Control;

/// Signals that the prover hears itself.
const HEARD: [libc::c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

fn heard() -> libc::sigset_t {
    // SAFETY: an all-zero sigset_t is a valid place for sigemptyset, which fills it; the signals exist.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in HEARD {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Keeps the signals for [`run`]. Call it before any other thread starts: they inherit it.
pub fn block() {
    // SAFETY: `set` is initialised; the old mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &heard(), std::ptr::null_mut()) };
}

/// Waits for signals for ever.
pub fn run(control: &Sender<Control>) {
    let set = heard();
    loop {
        let mut signal = 0;
        // SAFETY: both are valid; the signals are blocked in every thread.
        if unsafe { libc::sigwait(&set, &mut signal) } != 0 {
            continue;
        }
        let said = if signal == libc::SIGHUP {
            Control::Hangup
        } else {
            Control::Signal
        };
        if control.send(said).is_err() {
            return;
        }
    }
}

/// Reads standard input to its end. It carries nothing.
pub fn watch_lifeline(control: &Sender<Control>) {
    let mut input = std::io::stdin().lock();
    let mut scratch = [0; 4096];
    loop {
        match input.read(&mut scratch) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = control.send(Control::LifelineLost);
}
