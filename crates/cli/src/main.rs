//! The `costate` program.

mod args;
mod commands;
mod failure;
mod interrupt;
mod output;
mod progress;
mod table;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use failure::Failure;
use output::Output;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, not refusals.
            let code = if error.use_stderr() { failure::REFUSED } else { 0 };
            // Nothing is left to tell if even this cannot be printed.
            let _ = error.print();
            if code == failure::REFUSED && std::env::args_os().any(|a| a == "--json") {
                let text = error.to_string();
                let text = text.strip_prefix("error: ").unwrap_or(&text);
                let message = text.split("\n\n").next().unwrap_or(text);
                Output::new(true, false).fail(&Failure::refused("usage", message));
            }
            return ExitCode::from(code);
        }
    };
    let interrupt = interrupt::install();
    let mut output = Output::new(arguments.json, arguments.quiet);
    let result = match &arguments.command {
        Command::Params(args) => commands::params::run(args, &mut output),
        Command::Simulate(args) => commands::simulate::run(args, &mut output, interrupt),
        Command::Check(args) => commands::check::run(args, &mut output, interrupt),
        Command::Grad(args) => commands::grad::run(args, &mut output, interrupt),
        Command::Identify(args) => commands::identify::run(args, &mut output, interrupt),
        Command::Evaluate(args) => commands::evaluate::run(args, &mut output, interrupt),
        Command::Report(args) => commands::report::run(args, &mut output, interrupt),
    };
    let code = match result {
        Ok(code) => code,
        Err(failure) => {
            output.fail(&failure);
            failure.code
        }
    };
    match output.unprinted() {
        Some(error) if code == 0 => {
            eprintln!("error: the result could not be printed: {error}");
            ExitCode::from(failure::NOT_CONVERGED)
        }
        _ => ExitCode::from(code),
    }
}
