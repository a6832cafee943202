//! Running the program in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A temporary folder that goes when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("costate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    pub fn path(&self) -> &Path {
        &self.0
    }
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
    /// The program, to be run in this folder.
    pub fn costate(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_costate"));
        command.args(args).current_dir(&self.0);
        command
    }
    pub fn run(&self, args: &[&str]) -> Output {
        self.costate(args).output().unwrap()
    }
    /// Runs with `--json`: exit code and the one object on standard output.
    pub fn json(&self, args: &[&str]) -> (i32, Value) {
        let output = self.costate(args).arg("--json").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let value: Value =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}\n{errors}"));
        assert!(value["schema"].as_str().is_some_and(|s| s.starts_with("costate.")), "{text}");
        (output.status.code().unwrap(), value)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
