//! Whether every instruction set gives the same bits, over all laws and dampings.

use std::process::Command;

use costate_dynamics::System;
use costate_dynamics::rollout::{AdjointOptions, Run};
use costate_dynamics::soft::Registry;
use costate_model::{DampingLaw, Inputs};

use crate::grid::{Grid, Last};

/// Prints a digest of observations and gradient for every law, damping and narrowing.
pub fn print() -> Result<(), Box<dyn std::error::Error>> {
    costate_num::isa()?;
    for law in Registry::default().names() {
        for (viscosity, damping) in [
            (0.0, DampingLaw::FrameIndifferent),
            (1.0, DampingLaw::FrameIndifferent),
            (1.0, DampingLaw::Warp),
        ] {
            for leaves in [None, Some(&["mu", "lambda"][..]), Some(&["mu", "damping"][..])] {
                let grid = Grid { cells: [3, 2, 3], law, viscosity, damping };
                let model = grid.model()?;
                let mut system = System::new(&model)?;
                if let Some(leaves) = leaves {
                    grid.narrow(&mut system, leaves)?;
                }
                let c = system.derive(&system.theta())?;
                let observer = Last { steps: 20, dof: system.dof() };
                let inputs = Inputs::default();
                let options = AdjointOptions::default();
                let mut loss = |y: &[f64]| (y.iter().map(|y| y * y).sum(), y.to_vec());
                let got =
                    Run::new(&system, &c, &inputs).gradient(&observer, &[], &options, &mut loss)?;
                let digest = [&got.y, &got.c, &got.initial.q, &got.initial.v]
                    .into_iter()
                    .flatten()
                    .fold(0xcbf2_9ce4_8422_2325_u64, |hash, value| {
                        (hash ^ value.to_bits()).wrapping_mul(0x0000_0100_0000_01b3)
                    });
                let leaves = leaves.map_or("all leaves".into(), |leaves| leaves.join(" and "));
                println!("{law}, viscosity {viscosity} ({damping:?}), by {leaves}: {digest:016x}");
            }
        }
    }
    Ok(())
}

/// Runs [`print()`] in a process for each instruction set and compares what they print.
///
/// # Errors
/// A difference, or a failure other than that of a set that the processor lacks.
pub fn compare() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?;
    let digests = |isa: &str| -> Result<String, Box<dyn std::error::Error>> {
        let out = Command::new(&program).arg("--digests").env("COSTATE_ISA", isa).output()?;
        if !out.status.success() {
            return Err(format!("{isa}: {}", String::from_utf8_lossy(&out.stderr)).into());
        }
        Ok(String::from_utf8(out.stdout)?)
    };
    let scalar = digests("scalar")?;
    for isa in ["sse2", "avx2", "avx512"] {
        if !costate_num::Isa::from_name(isa)?.is_supported() {
            println!("{isa}: not on this processor");
            continue;
        }
        let own = digests(isa)?;
        for (a, b) in scalar.lines().zip(own.lines()) {
            if a != b {
                return Err(format!("scalar and {isa} differ:\n  {a}\n  {b}").into());
            }
        }
        println!("{isa}: the bits of one lane in {} runs", own.lines().count());
    }
    Ok(())
}
