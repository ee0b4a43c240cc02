//! The command socket: accepts hosts of our own user, cuts lines, carries answers back.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::Arc;
use std::time::Duration;

use interlock_pipeline::{Error, ErrorKind};
use serde_json::Value;

use super::control::{Asked, Control};
use super::protocol::{self, MAX_LINE};
use crate::say::say;

/// Hosts at a time. One is usual; more are scripts.
const MAX_CONNECTIONS: usize = 32;
/// A client that does not read its answers is cut off.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// Binds the socket, mode 0600. A dead socket of that name is replaced, a live one is not.
///
/// Errors: a sentence that names the path.
pub fn bind(path: &Path) -> Result<UnixListener, String> {
    use std::os::unix::ffi::OsStrExt;
    let shown = path.display();
    if path.as_os_str().as_bytes().len() > 107 {
        return Err(format!(
            "{shown} is too long for a socket; give a shorter one with --socket"
        ));
    }
    if path.symlink_metadata().is_ok() {
        use std::os::unix::fs::FileTypeExt;
        let is_socket = path
            .symlink_metadata()
            .is_ok_and(|m| m.file_type().is_socket());
        if !is_socket || UnixStream::connect(path).is_ok() {
            return Err(format!("{shown} is in use; another prover may have it"));
        }
        std::fs::remove_file(path).map_err(|error| format!("{shown}: {error}"))?;
    }
    let listener = UnixListener::bind(path).map_err(|error| format!("{shown}: {error}"))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|error| format!("{shown}: {error}"))?;
    Ok(listener)
}

/// How many requests have no answer yet. A process that ends gives their answers a moment.
pub type Unanswered = Arc<AtomicUsize>;

/// Accepts for ever. Each connection has a thread.
pub fn run(listener: &UnixListener, control: &Sender<Control>, unanswered: &Unanswered) {
    let open = Arc::new(AtomicUsize::new(0));
    let mut number = 0;
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // Out of descriptors, most likely: some will be free again.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        number += 1;
        if !is_ours(&stream) {
            say("a connection of another user was refused");
            continue;
        }
        if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (control, ours, unanswered) = (control.clone(), open.clone(), unanswered.clone());
        let started = std::thread::Builder::new()
            .name(format!("host-{number}"))
            .spawn(move || {
                serve(number, &stream, &control, &unanswered);
                let _ = control.send(Control::Disconnected(number));
                ours.fetch_sub(1, Ordering::SeqCst);
            });
        if started.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Whether the other end's user is ours.
fn is_ours(stream: &UnixStream) -> bool {
    let mut peer = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut length = std::mem::size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor lives through the call; `peer` is as long as `length` says.
    let got = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            std::ptr::from_mut(&mut peer).cast(),
            &mut length,
        )
    };
    // SAFETY: takes nothing, cannot fail.
    got == 0 && peer.uid == unsafe { libc::geteuid() }
}

fn serve(number: u64, stream: &UnixStream, control: &Sender<Control>, unanswered: &AtomicUsize) {
    let _ = stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut lines)
            .take(MAX_LINE as u64 + 1)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) if !line.ends_with(b"\n") => {
                if line.len() > MAX_LINE {
                    let error = Error::new(ErrorKind::BadRequest, "a line is longer than 1 MiB");
                    let _ = send(stream, &protocol::answer(None, &Err(error)));
                }
                return;
            }
            Ok(_) => {}
        }
        unanswered.fetch_add(1, Ordering::SeqCst);
        let (id, ask) = protocol::read(&line);
        let result = ask.and_then(|ask| {
            let (reply, answer) = mpsc::channel();
            let gone = || Error::new(ErrorKind::Internal, "the prover is ending");
            let asked = Asked {
                connection: number,
                ask,
                reply,
            };
            control.send(Control::Asked(asked)).map_err(|_| gone())?;
            answer.recv().map_err(|_| gone())?
        });
        let sent = send(stream, &protocol::answer(id, &result));
        unanswered.fetch_sub(1, Ordering::SeqCst);
        if !sent {
            return;
        }
    }
}

fn send(mut stream: &UnixStream, line: &str) -> bool {
    stream.write_all(line.as_bytes()).is_ok()
}

/// An answer's value.
pub type Answer = Result<Value, Error>;
