//! The command socket's requests and answers. FORMAT.md, section 6: strict in both directions.

use interlock_pipeline::{Error, ErrorKind, Request, Scheduler};
use serde::Deserialize;
use serde_json::{json, Map, Value};

use crate::proof_file::unhex;

/// The longest line.
pub const MAX_LINE: usize = 1 << 20;

/// What a host asks.
#[derive(Clone, Debug)]
pub enum Ask {
    /// This connection becomes the lifeline's understudy.
    Attach,
    /// Begin a run.
    Run {
        /// The host's id.
        run: String,
        /// Its scheduler.
        scheduler: Box<Scheduler>,
        /// What to emulate.
        emulate: Option<String>,
    },
    /// Take a proof over.
    Submit(Box<Request>),
    /// Give a proof back.
    Withdraw(String),
    /// Finish what has started, then end.
    Drain,
    /// End now.
    Stop,
    /// A snapshot.
    State,
    /// The time.
    Ping,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    run: String,
    scheduler: Scheduler,
    #[serde(deserialize_with = "there")]
    emulate: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Submit {
    proof: String,
    attempt: u32,
    circuit: String,
    partitions: u32,
    priority: u8,
    submitted_wall_ns: String,
    #[serde(deserialize_with = "there")]
    deadline_wall_ns: Option<String>,
    seed: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Withdraw {
    proof: String,
}

/// A field that may be null but not be missing.
fn there<'d, D: serde::Deserializer<'d>>(from: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(from)
}

/// Reads one line: the request's id, if it has one, and what it asks.
pub fn read(line: &[u8]) -> (Option<u64>, Result<Ask, Error>) {
    let mut fields: Map<String, Value> = match serde_json::from_slice(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return (None, Err(bad("a request is a JSON object"))),
        Err(error) => return (None, Err(bad(format!("not JSON: {error}")))),
    };
    let id = match fields
        .remove("id")
        .map(|id| id.as_u64().filter(|id| *id < 1 << 53))
    {
        Some(Some(id)) => id,
        _ => return (None, Err(bad("id is a whole number from 0 to 2^53 - 1"))),
    };
    let ask = match fields.remove("cmd") {
        Some(Value::String(name)) => command(&name, Value::Object(fields)),
        _ => Err(bad("cmd is the name of a command")),
    };
    (Some(id), ask)
}

fn command(name: &str, fields: Value) -> Result<Ask, Error> {
    fn of<T: serde::de::DeserializeOwned>(name: &str, fields: Value) -> Result<T, Error> {
        serde_json::from_value(fields).map_err(|error| bad(format!("{name}: {error}")))
    }
    let nothing = |fields, ask| of::<Nothing>(name, fields).map(|_| ask);
    match name {
        "attach" => nothing(fields, Ask::Attach),
        "drain" => nothing(fields, Ask::Drain),
        "stop" => nothing(fields, Ask::Stop),
        "state" => nothing(fields, Ask::State),
        "ping" => nothing(fields, Ask::Ping),
        "withdraw" => of::<Withdraw>(name, fields).map(|w| Ask::Withdraw(w.proof)),
        "run" => {
            let Run {
                run,
                scheduler,
                emulate,
            } = of(name, fields)?;
            if !interlock_timeline::is_id(&run) {
                return Err(bad("run: run is not 1-64 of A-Z a-z 0-9 . _ -"));
            }
            Ok(Ask::Run {
                run,
                scheduler: Box::new(scheduler),
                emulate,
            })
        }
        "submit" => submit(of(name, fields)?),
        _ => Err(bad(format!("no such command: {name:?}"))),
    }
}

fn submit(given: Submit) -> Result<Ask, Error> {
    let wall = |field: &str, text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = if digits {
            text.parse::<u64>().ok()
        } else {
            None
        };
        number.ok_or_else(|| bad(format!("submit: {field} is not a decimal string")))
    };
    if !is_file_name(&given.proof) {
        return Err(Error::new(
            ErrorKind::InvalidProof,
            "proof is not 1-64 of A-Z a-z 0-9 . _ - (and no leading dot)",
        ));
    }
    let seed: Option<[u8; 32]> = unhex(&given.seed).and_then(|bytes| bytes.try_into().ok());
    Ok(Ask::Submit(Box::new(Request {
        submitted_wall_ns: wall("submitted_wall_ns", &given.submitted_wall_ns)?,
        deadline_wall_ns: match &given.deadline_wall_ns {
            Some(text) => Some(wall("deadline_wall_ns", text)?),
            None => None,
        },
        seed: seed.ok_or_else(|| bad("submit: seed is not 32 bytes in hexadecimal"))?,
        proof: given.proof,
        attempt: given.attempt,
        circuit: given.circuit,
        partitions: given.partitions,
        priority: given.priority,
    })))
}

/// The proof's id names a file in the spool: an id has no slash, and a leading dot is refused.
fn is_file_name(id: &str) -> bool {
    interlock_timeline::is_id(id) && !id.starts_with('.')
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::BadRequest, message)
}

/// The line that answers a request, with its newline. A request without an id gets id null.
pub fn answer(id: Option<u64>, result: &Result<Value, Error>) -> String {
    let line = match result {
        Ok(value) => json!({ "id": id, "ok": true, "value": value }),
        Err(error) => json!({
            "id": id, "ok": false, "code": error.code().as_str(), "message": error.message(),
            "detail": error.detail()
        }),
    };
    format!("{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBMIT: &str = r#"{"id":7,"cmd":"submit","proof":"p1","attempt":1,"circuit":"squarings-9",
        "partitions":2,"priority":1,"submitted_wall_ns":"1796043668729000001",
        "deadline_wall_ns":null,"seed":"0000000000000000000000000000000000000000000000000000000000000001"}"#;

    fn error(line: &str) -> String {
        let (_, ask) = read(line.as_bytes());
        format!(
            "{} {}",
            ask.as_ref().unwrap_err().code().as_str(),
            ask.unwrap_err()
        )
    }

    #[test]
    fn a_submission_is_read() {
        let (id, ask) = read(SUBMIT.as_bytes());
        assert_eq!(id, Some(7));
        let Ask::Submit(request) = ask.unwrap() else {
            panic!("not a submission")
        };
        assert_eq!(request.submitted_wall_ns, 1_796_043_668_729_000_001);
        assert_eq!(request.seed[31], 1);
    }

    #[test]
    fn what_is_not_exactly_a_request_is_refused() {
        let bad = [
            "",
            "[]",
            "{\"cmd\":\"ping\"}",
            "{\"id\":-1,\"cmd\":\"ping\"}",
            "{\"id\":9007199254740992,\"cmd\":\"ping\"}",
            "{\"id\":1,\"cmd\":\"fly\"}",
            "{\"id\":1,\"cmd\":\"ping\",\"extra\":1}",
            "{\"id\":1,\"cmd\":\"run\",\"run\":\"r1\"}",
            "{\"id\":1,\"cmd\":\"withdraw\",\"proof\":1}",
        ];
        for line in bad {
            assert!(error(line).starts_with("bad_request"), "{line}");
        }
        for (from, to) in [
            ("\"1796043668729000001\"", "1796043668729000001"),
            ("\"1796043668729000001\"", "\"+1\""),
            ("\"deadline_wall_ns\":null,", ""),
            ("01\"}", "0\"}"),
            ("\"partitions\":2", "\"partitions\":-2"),
        ] {
            let line = SUBMIT.replace(from, to);
            assert!(error(&line).starts_with("bad_request"), "{to}");
        }
    }

    #[test]
    fn a_proof_s_id_never_leaves_the_spool() {
        for id in ["../p1", "a/b", "..", ".p1", "", "p\\u0000", "-e\\u0301"] {
            let line = SUBMIT.replace("\"p1\"", &format!("\"{id}\""));
            assert!(error(&line).starts_with("invalid_proof"), "{id}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        let line = format!("{{\"id\":1,\"cmd\":{}", "[".repeat(100_000));
        assert!(error(&line).starts_with("bad_request"));
    }

    #[test]
    fn an_answer_is_one_line() {
        let refused = Err(Error::new(ErrorKind::NoRun, "send `run`\nfirst"));
        let line = answer(Some(3), &refused);
        assert_eq!(line.matches('\n').count(), 1);
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["code"], "no_run");
        assert_eq!(value["detail"], json!({}));
    }
}
