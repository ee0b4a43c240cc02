//! The writer's side of the barrier that `ring.rs` argues with.

use std::sync::atomic::{fence, Ordering};
use std::sync::OnceLock;

use crate::clock::Clock;

const QUERY: libc::c_int = 0;
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

// A test wants the barriers of a system without the call, for rings and writers made on its thread.
#[cfg(test)]
thread_local! { pub(crate) static SYMMETRIC: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }

fn membarrier(command: libc::c_int) -> libc::c_long {
    // SAFETY: this call with these commands takes no pointer.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}

/// Whether the writer's barrier reaches all threads. Asked of the system once; the same for the process's life.
pub(crate) fn is_asymmetric() -> bool {
    #[cfg(test)]
    if SYMMETRIC.get() {
        return false;
    }
    static ASYMMETRIC: OnceLock<bool> = OnceLock::new();
    *ASYMMETRIC.get_or_init(|| {
        let can = membarrier(QUERY);
        let wanted = libc::c_long::from(PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED);
        can >= 0
            && can & wanted == wanted
            && membarrier(REGISTER_PRIVATE_EXPEDITED) == 0
            && membarrier(PRIVATE_EXPEDITED) == 0
    })
}

/// W1 and the writer's barrier: the clock, read before whatever the caller looks at next. Returns the stamp that a
/// mark may have as far as barriers go.
pub(crate) fn read_clock_before_looking(clock: &Clock) -> u64 {
    let now = clock.now_ns();
    fence(Ordering::SeqCst);
    // Once registered the call cannot fail; if it does all the same, no promise is made for this look.
    if is_asymmetric() && membarrier(PRIVATE_EXPEDITED) != 0 {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 has this instruction.
        #[allow(unused_unsafe)]
        unsafe {
            std::arch::x86_64::_mm_lfence()
        };
        now
    }
    // Elsewhere a look may begin before the clock is read, by less than this.
    #[cfg(not(target_arch = "x86_64"))]
    now.saturating_sub(1_000)
}
