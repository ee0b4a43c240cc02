//! Parameter files: whole, cut, joined, wrong in a point, of another circuit, not to be read.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code; clippy only knows it in #[test] functions"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use blstrs::{G1Affine, G2Affine};
use interlock_groth16::{synthesise, ErrorKind, Params};
use support::{bytes_of, Folder, Mixed, Secrets};

const CIRCUIT: Mixed = Mixed { steps: 20, seed: 1 };

/// Writes `bytes` as a parameter file of its own.
fn file(folder: &Folder, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.0.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// What opening `bytes` says; the message must name the file.
fn refusal(folder: &Folder, bytes: &[u8]) -> (ErrorKind, String) {
    let path = file(folder, "bad.params", bytes);
    let error = Params::open(&path).unwrap_err();
    assert!(error.message().contains("bad.params"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes, "the file was touched");
    assert!(!folder.0.join("bad.params.checked").exists());
    (error.kind(), error.message().to_string())
}

#[test]
fn a_saved_file_opens_to_the_same_parameters_and_is_remembered() {
    let folder = Folder::new("saved");
    let params = Secrets::of(1).ours(CIRCUIT);
    let path = folder.0.join("x.params");
    params.save(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes_of(&params));
    assert!(folder.0.join("x.params.checked").exists());
    let opened = Params::open(&path).unwrap();
    assert_eq!(bytes_of(&opened), bytes_of(&params));
    assert_eq!(opened.digest(), params.digest());
    assert_eq!(opened.path(), Some(path.as_path()));
    let mut names: Vec<_> = fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["x.params", "x.params.checked"]);
}

#[test]
fn saving_never_overwrites() {
    let folder = Folder::new("overwrite");
    let path = file(&folder, "x.params", b"somebody's");
    let error = Secrets::of(1).ours(CIRCUIT).save(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ParamsUnwritable);
    assert_eq!(fs::read(&path).unwrap(), b"somebody's");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn a_file_cut_anywhere_is_truncated() {
    let folder = Folder::new("cut");
    let bytes = bytes_of(&Secrets::of(1).ours(CIRCUIT));
    let cuts = (0..bytes.len())
        .step_by(101)
        .chain([863, 864, 867, 868, bytes.len() - 1]);
    for cut in cuts {
        let (kind, message) = refusal(&folder, &bytes[..cut]);
        assert_eq!(kind, ErrorKind::ParamsTruncated, "{cut}: {message}");
    }
}

#[test]
fn a_file_that_goes_on_is_refused() {
    let folder = Folder::new("trailing");
    let mut bytes = bytes_of(&Secrets::of(1).ours(CIRCUIT));
    bytes.push(0);
    assert_eq!(refusal(&folder, &bytes).0, ErrorKind::ParamsTrailing);
}

/// Offsets of one point of each kind and section.
fn points(params: &Params, bytes: &[u8]) -> Vec<(&'static str, usize)> {
    let ic = params.vk().ic.len();
    let mut places = vec![
        ("α", 0),
        ("β", 96),
        ("β in G2", 192),
        ("δ", 576),
        ("IC", 868),
    ];
    let mut at = 868 + 96 * ic;
    for section in ["H", "L", "A", "B in G1", "B in G2"] {
        let count = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let size = if section == "B in G2" { 192 } else { 96 };
        places.push((section, at + 4 + (count - 1) * size));
        at += 4 + count * size;
    }
    assert_eq!(at, bytes.len());
    places
}

#[test]
fn a_point_off_the_curve_or_at_infinity_is_found_in_every_section() {
    let folder = Folder::new("points");
    let params = Secrets::of(1).ours(CIRCUIT);
    let bytes = bytes_of(&params);
    for (section, at) in points(&params, &bytes) {
        let mut off = bytes.clone();
        off[at + 40] ^= 4;
        let (kind, message) = refusal(&folder, &off);
        assert_eq!(kind, ErrorKind::ParamsBadPoint, "{section}");
        assert!(message.contains(section), "{message}");

        let size = if section.ends_with("G2") { 192 } else { 96 };
        let mut infinity = bytes.clone();
        infinity[at..at + size].fill(0);
        infinity[at] = 0x40;
        assert_eq!(
            refusal(&folder, &infinity).0,
            ErrorKind::ParamsBadPoint,
            "{section}"
        );
    }
}

/// A point of the curve outside the prime-order group.
fn stray_g1() -> G1Affine {
    (1_u8..=255)
        .filter_map(|x| {
            let mut bytes = [0; 48];
            (bytes[0], bytes[47]) = (0x80, x);
            Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
        })
        .find(|point| !bool::from(point.is_torsion_free()))
        .unwrap()
}

fn stray_g2() -> G2Affine {
    (1_u8..=255)
        .filter_map(|x| {
            let mut bytes = [0; 96];
            (bytes[0], bytes[95]) = (0x80, x);
            Option::<G2Affine>::from(G2Affine::from_compressed_unchecked(&bytes))
        })
        .find(|point| !bool::from(point.is_torsion_free()))
        .unwrap()
}

#[test]
fn a_point_outside_the_group_is_found_even_after_the_file_was_checked() {
    let folder = Folder::new("stray");
    let params = Secrets::of(1).ours(CIRCUIT);
    let bytes = bytes_of(&params);
    for (section, at) in points(&params, &bytes) {
        let mut stray = bytes.clone();
        if section.ends_with("G2") {
            stray[at..at + 192].copy_from_slice(&stray_g2().to_uncompressed());
        } else {
            stray[at..at + 96].copy_from_slice(&stray_g1().to_uncompressed());
        }
        let (kind, message) = refusal(&folder, &stray);
        assert_eq!(kind, ErrorKind::ParamsBadPoint, "{section}");
        assert!(message.contains(section), "{message}");

        // The same length, remembered as checked, changed in place with its times kept.
        let path = file(&folder, "good.params", &bytes);
        Params::open(&path).unwrap();
        let times = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, &stray).unwrap();
        fs::File::open(&path).unwrap().set_modified(times).unwrap();
        assert_eq!(
            Params::open(&path).unwrap_err().kind(),
            ErrorKind::ParamsBadPoint
        );
    }
}

#[test]
fn a_torn_or_foreign_memory_only_means_that_the_check_runs() {
    let folder = Folder::new("memory");
    let bytes = bytes_of(&Secrets::of(1).ours(CIRCUIT));
    let path = file(&folder, "x.params", &bytes);
    for memory in ["", "{", r#"{"version":2,"sha256":"","bytes":0}"#] {
        fs::write(folder.0.join("x.params.checked"), memory).unwrap();
        Params::open(&path).unwrap();
        let written = fs::read_to_string(folder.0.join("x.params.checked")).unwrap();
        assert!(written.contains(r#""version":1"#), "{written}");
    }
}

#[test]
fn progress_never_falls_and_ends_at_one() {
    let folder = Folder::new("progress");
    let bytes = bytes_of(&Secrets::of(1).ours(CIRCUIT));
    let path = file(&folder, "x.params", &bytes);
    for _ in 0..2 {
        let heard = std::sync::Mutex::new(vec![0.0]);
        Params::open_with(&path, &|part| heard.lock().unwrap().push(part)).unwrap();
        let heard = heard.into_inner().unwrap();
        assert!(heard.windows(2).all(|pair| pair[0] <= pair[1]), "{heard:?}");
        assert_eq!(heard.last(), Some(&1.0));
    }
}

#[test]
fn parameters_of_another_circuit_say_what_differs() {
    let params = Secrets::of(1).ours(CIRCUIT);
    let other = synthesise(Mixed { steps: 23, seed: 1 }).unwrap().shape();
    let error = params.check_fits(&other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ParamsMismatch);
    assert!(error.message().contains("private variables"), "{error}");
    params
        .check_fits(&synthesise(CIRCUIT).unwrap().shape())
        .unwrap();
}

#[test]
fn what_is_no_file_is_told_apart() {
    let folder = Folder::new("nofile");
    let kind = |path: &Path| Params::open(path).unwrap_err().kind();
    assert_eq!(
        kind(&folder.0.join("missing.params")),
        ErrorKind::ParamsMissing
    );
    assert_eq!(kind(&folder.0), ErrorKind::ParamsUnreadable);
    let path = file(
        &folder,
        "text.params",
        &b"not parameters at all ".repeat(200),
    );
    assert_eq!(kind(&path), ErrorKind::ParamsTruncated);
}

/// Gives up root for the calling thread alone while `work` runs. The raw system call changes one
/// thread, where libc's function would change them all.
fn without_root<T>(work: impl FnOnce() -> T) -> T {
    let set = |user: i64| {
        // SAFETY: no memory is involved.
        let changed = unsafe { libc::syscall(libc::SYS_setresuid, -1_i64, user, -1_i64) };
        assert_eq!(changed, 0);
    };
    // SAFETY: no memory is involved.
    if unsafe { libc::geteuid() } != 0 {
        return work();
    }
    set(65_534);
    let result = work();
    set(0);
    result
}

#[test]
fn a_file_that_may_not_be_read_is_told_apart() {
    let folder = Folder::new("permission");
    let path = file(
        &folder,
        "x.params",
        &bytes_of(&Secrets::of(1).ours(CIRCUIT)),
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let error = without_root(|| Params::open(&path)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ParamsUnreadable);
    assert!(error.message().contains("permission"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_keeps_no_memory_and_opens_all_the_same() {
    let folder = Folder::new("readonly");
    let path = file(
        &folder,
        "x.params",
        &bytes_of(&Secrets::of(1).ours(CIRCUIT)),
    );
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o555)).unwrap();
    let opened = without_root(|| Params::open(&path));
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).unwrap();
    opened.unwrap();
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}
