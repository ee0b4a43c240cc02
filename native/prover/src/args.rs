//! The command line. Every refusal names the argument.

use std::ffi::OsString;
use std::path::PathBuf;

use interlock_pipeline::{spec, Spec};

use crate::error::{Error, ErrorKind};

/// What `--help` says.
pub const USAGE: &str = "\
interlock-prover serve --process UUID --folder DIR --params DIR --backend cpu|emulated
                       [--emulate SPEC] [--grace SECONDS] [--socket PATH]
interlock-prover verify --params DIR FILE
interlock-prover params --params DIR --circuit C
interlock-prover version";

/// The backends that the command line knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Real proofs on CPU threads.
    Cpu,
    /// Waits in place of work.
    Emulated(Box<Spec>),
}

/// What `serve` was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serve {
    /// The process's UUID.
    pub process: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Where params live.
    pub params: PathBuf,
    /// What proves.
    pub backend: Backend,
    /// The emulation in words.
    pub emulate: Option<String>,
    /// How long a drain may last.
    pub grace_ns: u64,
    /// The command socket, if not in the folder.
    pub socket: Option<PathBuf>,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Prove for a host.
    Serve(Serve),
    /// Check a proof file.
    Verify {
        /// Where params live.
        params: PathBuf,
        /// The proof file.
        file: PathBuf,
    },
    /// Generate or check params.
    Params {
        /// Where params live.
        params: PathBuf,
        /// Which.
        circuit: String,
    },
    /// Say the version.
    Version,
    /// Say the usage.
    Help,
}

/// Ten minutes, the least that a host with no history asks for.
const DEFAULT_GRACE_NS: u64 = 600_000_000_000;

/// Reads the command line, without the program's name.
///
/// Errors: `BadArguments`, naming the argument; `Refused` for a backend that this build lacks.
pub fn parse(arguments: &[OsString]) -> Result<Command, Error> {
    let mut words = Vec::new();
    for argument in arguments {
        let word = argument
            .to_str()
            .ok_or_else(|| bad(format!("{argument:?} is not UTF-8")))?;
        words.push(word.to_owned());
    }
    let (command, rest) = words
        .split_first()
        .ok_or_else(|| bad(format!("a command is missing\n{USAGE}")))?;
    match command.as_str() {
        "serve" => serve(rest).map(Command::Serve),
        "verify" => {
            let mut flags = Flags::read(rest, &["--params"], 1)?;
            let file = flags
                .rest
                .pop()
                .ok_or_else(|| bad("verify: FILE is missing"))?;
            Ok(Command::Verify {
                params: flags.path("--params")?,
                file: file.into(),
            })
        }
        "params" => {
            let flags = Flags::read(rest, &["--params", "--circuit"], 0)?;
            let circuit = flags.need("--circuit")?;
            let spec = spec(&circuit).map_err(|error| bad(format!("--circuit: {error}")))?;
            Ok(Command::Params {
                params: flags.path("--params")?,
                circuit: spec.to_string(),
            })
        }
        "version" | "--version" | "-V" => Flags::read(rest, &[], 0).map(|_| Command::Version),
        "help" | "--help" | "-h" => Ok(Command::Help),
        other => Err(bad(format!("no such command: {other:?}\n{USAGE}"))),
    }
}

fn serve(rest: &[String]) -> Result<Serve, Error> {
    let known = [
        "--process",
        "--folder",
        "--params",
        "--backend",
        "--emulate",
        "--grace",
        "--socket",
    ];
    let flags = Flags::read(rest, &known, 0)?;
    let process = flags.need("--process")?;
    if !is_uuid(&process) {
        return Err(bad(format!(
            "--process {process:?} is not a UUID in lower-case letters"
        )));
    }
    let emulate = flags.get("--emulate");
    let backend = match flags.need("--backend")?.as_str() {
        "cpu" if emulate.is_some() => return Err(bad("--emulate needs --backend emulated")),
        "cpu" => Backend::Cpu,
        "emulated" => {
            let text = emulate.as_deref().unwrap_or_default();
            let spec = Spec::parse(text).map_err(|error| bad(format!("--emulate: {error}")))?;
            Backend::Emulated(Box::new(spec))
        }
        "cuda" => {
            return Err(Error::refused(
                "--backend cuda: backend_unavailable: this build has no CUDA; choose `cpu`",
            ))
        }
        other => {
            return Err(bad(format!(
                "--backend {other:?} is not one of cpu, emulated, cuda"
            )))
        }
    };
    let grace_ns = match flags.get("--grace") {
        None => DEFAULT_GRACE_NS,
        Some(text) => grace(&text)?,
    };
    Ok(Serve {
        process,
        folder: flags.path("--folder")?,
        params: flags.path("--params")?,
        backend,
        emulate,
        grace_ns,
        socket: flags.get("--socket").map(PathBuf::from),
    })
}

fn grace(text: &str) -> Result<u64, Error> {
    let seconds: Option<f64> = text.parse().ok().filter(|s| (0.1..=86_400.0).contains(s));
    let seconds = seconds.ok_or_else(|| {
        bad(format!(
            "--grace {text:?} is not a number of seconds, 0.1 to 86400"
        ))
    })?;
    u64::try_from(std::time::Duration::from_secs_f64(seconds).as_nanos())
        .map_err(|_| bad("--grace is too long"))
}

fn is_uuid(text: &str) -> bool {
    let dash = |i: usize| matches!(i, 8 | 13 | 18 | 23);
    let good = |(i, b): (usize, u8)| {
        if dash(i) {
            b == b'-'
        } else {
            b.is_ascii_digit() || (b'a'..=b'f').contains(&b)
        }
    };
    text.len() == 36 && text.bytes().enumerate().all(good)
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadArguments, message)
}

/// `--name value` and `--name=value`, each at most once, and what is left.
struct Flags {
    given: Vec<(String, String)>,
    rest: Vec<String>,
}

impl Flags {
    fn read(words: &[String], known: &[&str], positional: usize) -> Result<Flags, Error> {
        let mut flags = Flags {
            given: Vec::new(),
            rest: Vec::new(),
        };
        let mut words = words.iter();
        let mut only_words = false;
        while let Some(word) = words.next() {
            if word == "--" && !only_words {
                only_words = true;
                continue;
            }
            if only_words || !word.starts_with('-') {
                if flags.rest.len() == positional {
                    return Err(bad(format!("{word:?} is one argument too many")));
                }
                flags.rest.push(word.clone());
                continue;
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            if !known.contains(&name) {
                return Err(bad(format!("no such argument: {name}")));
            }
            if flags.get(name).is_some() {
                return Err(bad(format!("{name} is given twice")));
            }
            let value = match value {
                Some(value) => value,
                None => words
                    .next()
                    .cloned()
                    .ok_or_else(|| bad(format!("{name} needs a value")))?,
            };
            if value.is_empty() {
                return Err(bad(format!("{name} is empty")));
            }
            flags.given.push((name.to_owned(), value));
        }
        Ok(flags)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.given
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.clone())
    }

    fn need(&self, name: &str) -> Result<String, Error> {
        self.get(name)
            .ok_or_else(|| bad(format!("{name} is missing")))
    }

    fn path(&self, name: &str) -> Result<PathBuf, Error> {
        self.need(name).map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn read(line: &str) -> Result<Command, Error> {
        parse(
            &line
                .split_whitespace()
                .map(OsString::from)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_full_line_is_read() {
        let line = format!(
            "serve --process {UUID} --folder=/f --params /p --backend emulated \
             --emulate kernels=5ms --grace 1.5"
        );
        let Command::Serve(serve) = read(&line).unwrap() else {
            panic!("not serve")
        };
        assert_eq!(serve.grace_ns, 1_500_000_000);
        assert_eq!(serve.folder, PathBuf::from("/f"));
        assert!(matches!(serve.backend, Backend::Emulated(spec) if spec.kernels_ns == 5_000_000));
    }

    #[test]
    fn every_mistake_names_its_argument() {
        let good = format!("serve --process {UUID} --folder /f --params /p");
        let table = [
            ("serve --folder /f".to_owned(), "--process"),
            ("serve --process 1".to_owned(), "--process"),
            (good.clone(), "--backend"),
            (format!("{good} --backend gpu"), "--backend"),
            (
                format!("{good} --backend cpu --emulate kernels=5ms"),
                "--emulate",
            ),
            (
                format!("{good} --backend emulated --emulate kernels=5"),
                "--emulate",
            ),
            (format!("{good} --backend cpu --grace 0"), "--grace"),
            (format!("{good} --backend cpu --grace -5"), "--grace"),
            (format!("{good} --backend cpu --grace NaN"), "--grace"),
            (format!("{good} --backend cpu --turbo 1"), "--turbo"),
            (format!("{good} --backend cpu --params /q"), "--params"),
            (format!("{good} --backend cpu --socket"), "--socket"),
            (format!("{good} --backend cpu more"), "more"),
            ("verify --params /p".to_owned(), "FILE"),
            ("params --params /p --circuit x".to_owned(), "--circuit"),
            ("fly".to_owned(), "fly"),
            (String::new(), "command"),
        ];
        for (line, names) in table {
            let error = read(&line).unwrap_err();
            assert_eq!(error.exit(), 2, "{line}");
            assert!(error.to_string().contains(names), "{line}: {error}");
        }
    }

    #[test]
    fn cuda_is_refused_and_not_a_bad_argument() {
        let line = format!("serve --process {UUID} --folder /f --params /p --backend cuda");
        let error = read(&line).unwrap_err();
        assert_eq!(error.exit(), 3);
        assert!(error.to_string().contains("backend_unavailable"));
    }
}
