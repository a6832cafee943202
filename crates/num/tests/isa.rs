//! `COSTATE_ISA` as a program sees it: read once per process, so each value needs a process of its own.

use costate_num::{Isa, Kernel, Lanes, dispatch, isa};
use std::process::Command;

struct Width;
impl Kernel for Width {
    type Output = usize;
    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        L::N
    }
}

/// The lanes that a dispatch in this process has, and what `isa` says.
#[test]
fn report() {
    let width: usize = dispatch(Width);
    match isa() {
        Ok(isa) => println!("isa {isa} lanes {width}"),
        Err(error) => println!("error {error} lanes {width}"),
    }
}

fn in_a_process_with(value: &str) -> String {
    let program = std::env::current_exe().expect("the test's own program has a path");
    let output = Command::new(program)
        .args(["--exact", "report", "--nocapture"])
        .env("COSTATE_ISA", value)
        .output()
        .expect("the test's own program starts");
    let all = String::from_utf8(output.stdout).expect("the report is ASCII");
    // The test harness writes lines of its own around the report.
    all.lines().find(|line| line.contains(" lanes ")).unwrap_or_default().to_owned()
}

#[test]
fn the_environment_forces_an_instruction_set() {
    let best = in_a_process_with("");
    assert!(best.contains(&format!("isa {} lanes", Isa::best())), "{best}");
    // Where registers replace them, arrays are not compiled for every kernel.
    let portable = if cfg!(target_arch = "x86_64") { 1 } else { 4 };
    for (isa, lanes) in [
        (Isa::Scalar, 1),
        (Isa::Portable, portable),
        (Isa::Sse2, 2),
        (Isa::Avx2, 4),
        (Isa::Avx512, 8),
    ] {
        let report = in_a_process_with(isa.name());
        if isa.is_supported() {
            assert!(report.contains(&format!("isa {isa} lanes {lanes}")), "{report}");
        } else {
            assert!(report.contains(&format!("error this processor lacks {isa}")), "{report}");
        }
    }
    let unknown = in_a_process_with("mmx");
    assert!(unknown.contains("error `mmx` is no instruction set"), "{unknown}");
    // A dispatch works all the same.
    let width = |report: &str| report.rsplit(' ').next().map(str::to_owned);
    assert_eq!(width(&unknown), width(&best));
}
