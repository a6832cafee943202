//! Every experiment that ships can be read, and is one that its data can answer.

use std::path::PathBuf;

use costate_identify::{Experiment, Problem};

#[test]
fn shipped_experiments_compile() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path().join("experiment.toml");
        if !file.exists() {
            continue;
        }
        let experiment = Experiment::read(&file).unwrap_or_else(|e| panic!("{e}"));
        let problem = Problem::new(&experiment).unwrap_or_else(|e| panic!("{e}"));
        assert!(!problem.unknowns.is_empty() && problem.samples() > 0);
        seen += 1;
    }
    assert!(seen > 0);
}
