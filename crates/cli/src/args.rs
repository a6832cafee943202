//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Differentiable physics for finding out the physical parameters of real things.
#[derive(Parser, Debug)]
#[command(name = "costate", version, about, max_term_width = 100)]
pub struct Arguments {
    /// Print exactly one JSON object on standard output; all else goes to standard error.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but results and errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// List every physical parameter (leaf) of a scene, with value, unit and bounds.
    Params(ParamsArgs),
    /// Run a scene forward and write the motion.
    Simulate(SimulateArgs),
    /// Prove the derivatives of a scene: every leaf against differences and against the adjoint.
    Check(CheckArgs),
    /// Cost of an experiment at its start and its gradient by every parameter.
    Grad(GradArgs),
    /// Find the parameters of an experiment, with error bars, and write a report.
    Identify(IdentifyArgs),
    /// Predict the recordings of an experiment with the parameters of a result.
    Evaluate(EvaluateArgs),
    /// Write the HTML report of a result again.
    Report(ReportArgs),
}

/// Changes to the scene's numbers.
#[derive(Args, Debug, Default)]
pub struct SetArgs {
    /// Start from this keyframe of the robot's file, by its name or number.
    #[arg(long, value_name = "NAME")]
    pub keyframe: Option<String>,
    /// Set a leaf before running: PATH=VALUE or PATH=V1,V2,…; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// What may be left out.
    #[command(flatten)]
    pub allow: AllowArgs,
}

/// What may be left out of a simulation.
#[derive(Args, Debug, Default)]
pub struct AllowArgs {
    /// Simulate without something that the robot's file asks for; repeatable.
    #[arg(long = "allow", value_name = "NAME")]
    pub allow: Vec<String>,
}

/// Arguments of `params`.
#[derive(Args, Debug)]
pub struct ParamsArgs {
    /// The scene file.
    pub scene: PathBuf,
    /// Only leaves whose path contains this text.
    #[arg(long)]
    pub filter: Option<String>,
    /// Changes to the scene's numbers.
    #[command(flatten)]
    pub set: SetArgs,
}

/// Arguments of `simulate`.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    /// The scene file.
    pub scene: PathBuf,
    /// How long to simulate, s (default: the scene's duration).
    #[arg(long, allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Write the motion: .csv, .npz, or a .vtk.series of meshes.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Write a state every this many seconds.
    #[arg(long, default_value_t = 0.01, allow_negative_numbers = true)]
    pub every: f64,
    /// Start from the last state of this motion file (.csv or .npz, as --out writes).
    #[arg(long)]
    pub initial: Option<PathBuf>,
    /// Inputs over time: .csv or .npz with a column `t` and columns named like input channels
    /// (`soft.beam.load.tip[0]` … or `.x`, `.y`, `.z`).
    #[arg(long)]
    pub inputs: Option<PathBuf>,
    /// Hold inputs between samples instead of drawing straight lines.
    #[arg(long)]
    pub hold: bool,
    /// Write a GIF of the motion.
    #[arg(long)]
    pub gif: Option<PathBuf>,
    /// Run even where the time step is beyond the largest stable one.
    #[arg(long)]
    pub unstable: bool,
    /// Changes to the scene's numbers.
    #[command(flatten)]
    pub set: SetArgs,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The scene file.
    pub scene: PathBuf,
    /// How many steps to run.
    #[arg(long, default_value_t = 50, value_parser = steps, allow_negative_numbers = true)]
    pub steps: usize,
    /// Changes to the scene's numbers.
    #[command(flatten)]
    pub set: SetArgs,
}

/// Arguments of `grad`.
#[derive(Args, Debug)]
pub struct GradArgs {
    /// The experiment file.
    pub experiment: PathBuf,
    /// What may be left out.
    #[command(flatten)]
    pub allow: AllowArgs,
}

/// Arguments of `identify`.
#[derive(Args, Debug)]
pub struct IdentifyArgs {
    /// The experiment file.
    pub experiment: PathBuf,
    /// Folder for result, report and checkpoint (default: runs/NAME).
    #[arg(long, conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Continue the run in this folder.
    #[arg(long)]
    pub resume: Option<PathBuf>,
    /// Write the scene with the estimates in place, only the changed numbers replaced.
    #[arg(long)]
    pub write_model: Option<PathBuf>,
    /// At most this many iterations (default: what the experiment says).
    #[arg(long, allow_negative_numbers = true)]
    pub max_iterations: Option<usize>,
    /// Do not draw the motion.
    #[arg(long)]
    pub no_gif: bool,
    /// What may be left out.
    #[command(flatten)]
    pub allow: AllowArgs,
}

/// Arguments of `evaluate`.
#[derive(Args, Debug)]
pub struct EvaluateArgs {
    /// The experiment file; its recordings are predicted, none is fitted.
    pub experiment: PathBuf,
    /// The result: its file or its run folder.
    #[arg(long = "with")]
    pub result: PathBuf,
    /// What may be left out.
    #[command(flatten)]
    pub allow: AllowArgs,
}

/// Arguments of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The result: its file or its run folder.
    pub result: PathBuf,
    /// The experiment file, to draw the motion too.
    #[arg(long)]
    pub experiment: Option<PathBuf>,
    /// Where to write (default: report.html beside the result).
    #[arg(long, short)]
    pub out: Option<PathBuf>,
}

/// A number of steps over which derivatives can be proven.
fn steps(text: &str) -> Result<usize, String> {
    const MOST: usize = 1_000_000;
    match text.parse() {
        Ok(n @ 1..=MOST) => Ok(n),
        _ => Err(format!("expected a whole number from 1 to {MOST}")),
    }
}
