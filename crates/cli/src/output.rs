//! What goes to standard output and what to standard error.

use std::io::Write;

use serde_json::{Value, json};

use crate::failure::Failure;

/// Standard output holds results: text, or exactly one JSON object under `--json`.
pub struct Output {
    json: bool,
    quiet: bool,
    /// Why something of the result could not be printed.
    unprinted: Option<std::io::Error>,
}

impl Output {
    /// As the command line says.
    pub fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, unprinted: None }
    }
    /// Whether only results and errors are wanted.
    pub fn quiet(&self) -> bool {
        self.quiet
    }
    /// Why the result could not be printed in full, if so.
    pub fn unprinted(&self) -> Option<&std::io::Error> {
        self.unprinted.as_ref()
    }
    /// Prints to standard output; a reader that has gone away (a closed pipe) is no error.
    fn print(&mut self, text: &str) {
        let mut out = std::io::stdout();
        if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            self.unprinted.get_or_insert(error);
        }
    }
    /// A line of the result for people.
    pub fn line(&mut self, text: impl AsRef<str>) {
        if !self.json {
            self.print(text.as_ref());
        }
    }
    /// Something worth knowing that is not the result.
    pub fn note(&mut self, text: impl AsRef<str>) {
        if !self.quiet {
            eprintln!("{}", text.as_ref());
        }
    }
    /// A warning, on standard error in every mode.
    pub fn warn(&mut self, text: impl AsRef<str>) {
        eprintln!("warning: {}", text.as_ref());
    }
    /// The one JSON object of a command; nothing without `--json`.
    pub fn object(&mut self, schema: &str, mut value: Value) {
        if self.json {
            if let Value::Object(map) = &mut value {
                map.insert("schema".into(), json!(schema));
            }
            self.print(&value.to_string());
        }
    }
    /// An error, as one JSON object or as a diagnostic with the line of the file.
    pub fn fail(&mut self, failure: &Failure) {
        if self.json {
            let file = failure.file.as_ref().map(|f| f.display().to_string());
            let error = json!({
                "kind": failure.kind,
                "message": failure.message,
                "file": file,
                "line": failure.line,
            });
            let mut object = (*failure.details).clone();
            object.insert("error".into(), error);
            self.object("costate.error/1", Value::Object(object));
            return;
        }
        eprintln!("error: {}", failure.message);
        let Some(file) = &failure.file else { return };
        match failure.line {
            None => eprintln!("  --> {}", file.display()),
            Some(line) => {
                let column = failure.column.map_or(String::new(), |c| format!(":{c}"));
                eprintln!("  --> {}:{line}{column}", file.display());
                quote(file, line, failure.column);
            }
        }
    }
}

/// Shows the line of a text file with a mark under the column.
fn quote(file: &std::path::Path, line: usize, column: Option<usize>) {
    const LONGEST: usize = 160;
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let Some(content) = text.lines().nth(line - 1) else { return };
    let shown: String = content.chars().take(LONGEST).collect();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    eprintln!(" {margin} |\n {number} | {shown}");
    if let Some(column) = column
        && column <= LONGEST
    {
        eprintln!(" {margin} | {}^", " ".repeat(column - 1));
    }
}
