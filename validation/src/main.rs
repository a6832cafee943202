//! Runs every check and writes `VALIDATION.md`.
//!
//! `cargo run --release -p costate-validation` runs all; `-- GROUP…` runs the named groups and
//! prints them without writing the file.

mod arm;
// The arm is built by the code that the tests use.
#[path = "../../crates/identify/tests/common/arm.rs"]
mod arm_problem;
mod beam;
mod bouncing_grid;
mod check;
// The scenes of warp.sim's recordings are built by the code that the tests use.
#[path = "../../crates/dynamics/tests/common/mod.rs"]
mod common;
mod cube_toss;
mod derivatives;
mod emps;
mod memory;
mod onset;
mod oscillator;
mod page;
mod pendulums;
mod recording;
mod simulated;
mod soft_cube;
mod warp;
#[path = "../../crates/dynamics/tests/common/warp.rs"]
mod warp_scene;

use std::path::PathBuf;
use std::process::ExitCode;

use check::Group;

/// A group of checks by name.
type Entry = (&'static str, fn() -> Group);

const GROUPS: &[Entry] = &[
    ("oscillator", oscillator::run),
    ("derivatives", derivatives::run),
    ("onset", onset::run),
    ("warp", warp::run),
    ("memory", memory::run),
    ("simulated", simulated::run),
    ("beam", beam::run),
    ("bouncing-grid", bouncing_grid::run),
    ("soft-cube", soft_cube::run),
    ("arm", arm::run),
    ("pendulums", pendulums::run),
    ("emps", emps::run),
    ("cube-toss", cube_toss::run),
];

/// The repository's root.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn write(groups: &[Group], pending: &[&str]) -> Result<(), costate::formats::Error> {
    let text = page::render(groups, pending);
    costate::formats::write_atomically(&root().join("VALIDATION.md"), |w| {
        std::io::Write::write_all(w, text.as_bytes())
    })
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|w| !GROUPS.iter().any(|(name, _)| name == *w)) {
        let known: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no group `{unknown}`; known ones: {}", known.join(", "));
        return ExitCode::from(2);
    }
    let mut groups = Vec::new();
    let all = wanted.is_empty();
    let chosen = |name: &str| all || wanted.iter().any(|w| w == name);
    for (i, (name, run)) in GROUPS.iter().enumerate() {
        if !chosen(name) {
            continue;
        }
        eprintln!("{name} …");
        groups.push(run());
        // Written after every group, so that an interrupt loses none that is done.
        let pending: Vec<&str> = GROUPS[i + 1..].iter().map(|(name, _)| *name).collect();
        if all && let Err(error) = write(&groups, &pending) {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    if !all {
        println!("{}", page::render(&groups, &[]));
    }
    let failed = groups.iter().flat_map(|g| &g.checks).filter(|c| !c.passes()).count();
    eprintln!("{failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
