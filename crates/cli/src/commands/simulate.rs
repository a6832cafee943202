//! `costate simulate SCENE`.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use costate::dynamics::System;
use costate::dynamics::contact::ContactMonitor;
use costate::dynamics::contact::narrow_geom_warnings;
use costate::dynamics::rollout::Run;
use costate::dynamics::soft::{Registry, bulk_modulus_warnings};
use costate::formats::table::Table;
use costate::model::{InputChannel, InputSignal, Inputs, Interpolation, Model, State};
use serde_json::json;

use crate::args::SimulateArgs;
use crate::commands::{destination, motion, sensors};
use crate::failure::{Failure, INTERRUPTED};
use crate::output::Output;
use crate::table::number;

/// Most memory that the states of a motion may take.
const MOST_BYTES: f64 = 4e9;
/// How long a run says nothing of where it is.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Runs a scene forward.
pub fn run(
    args: &SimulateArgs,
    output: &mut Output,
    interrupt: &AtomicBool,
) -> Result<u8, Failure> {
    let scene = super::scene(&args.scene, &args.set)?;
    let read: Vec<&Path> = [Some(&args.scene), args.inputs.as_ref(), args.initial.as_ref()]
        .into_iter()
        .flatten()
        .map(|path| path.as_path())
        .collect();
    if let Some(path) = &args.gif {
        destination::check(path, "--gif", &["gif"], &read)?;
    }
    if let Some(path) = &args.out {
        destination::check(path, "--out", &[], &read)?;
        motion::format(path)?;
    }
    let system = System::new(&scene.model)?;
    let h = system.timestep();
    let duration = args.duration.unwrap_or(scene.model.options.duration);
    if duration.is_nan() || duration < 0.0 {
        return Err(Failure::refused(
            "bad_argument",
            "--duration takes a time of zero or more, in s",
        ));
    }
    if duration / h > 1e10 {
        let message = format!(
            "a duration of {} s in steps of {} s is out of reach: at most 1e10 steps are made",
            number(duration),
            number(h)
        );
        return Err(Failure::refused("bad_argument", message));
    }
    if args.every.is_nan() || args.every <= 0.0 {
        return Err(Failure::refused("bad_argument", "--every takes a time above zero, in s"));
    }
    let steps = (duration / h).round() as usize;
    if steps == 0 && duration > 0.0 {
        let message = format!(
            "a duration of {} s is less than half a step of {} s: nothing would be simulated",
            number(duration),
            number(h)
        );
        return Err(Failure::refused("bad_argument", message));
    }
    let stride = ((args.every / h).round() as usize).max(1);
    let states = (steps / stride + 2) as f64;
    let numbers = system.position_len() + system.dof() + system.activation_len();
    let bytes = states * 8.0 * numbers as f64;
    if bytes > MOST_BYTES {
        let message = format!(
            "{} states of {} degrees of freedom take {:.1} GB, more than the {:.0} GB that a motion may; \
             keep fewer of them with a larger --every",
            number(states),
            system.dof(),
            bytes / 1e9,
            MOST_BYTES / 1e9
        );
        return Err(Failure::refused("too_large", message));
    }
    let inputs = match &args.inputs {
        None => Inputs { signals: vec![None; system.channels().len()] },
        Some(path) => read_inputs(path, system.channels(), args.hold)?,
    };
    let inputs = match &args.set.keyframe {
        Some(keyframe) => with_controls_of(inputs, keyframe, &scene.model, system.channels()),
        None => inputs,
    };
    let constants = system.derive(&system.theta())?;
    let initial = args.initial.as_ref().map(|p| motion::last_state(p, &system)).transpose()?;
    let mut run = Run::new(&system, &constants, &inputs);
    run.initial = initial.as_ref();
    run.interrupt = Some(interrupt);
    let start = run.start();
    let mut u = Vec::new();
    inputs.sample(system.channels(), 0.0, &mut u);
    let stable = match system.check_timestep(&constants, &start, &u) {
        Ok(stable) => stable,
        Err(error) if args.unstable => {
            output.warn(error.to_string());
            system.stable_step(&constants, &start, &u)
        }
        Err(error) => return Err(Failure::from(error).in_file(&args.scene)),
    };
    let of_system = system.articulated().map_or(&[][..], |a| a.left_out());
    for thing in scene.left_out.iter().chain(of_system) {
        output.warn(thing.clone());
    }
    let mut size = format!("{} degrees of freedom, {steps} steps of {} s", system.dof(), number(h));
    if system.vertex_count() > 0 {
        size += &format!(
            " (largest stable step about {} s, set by {})",
            number(stable.bound),
            stable.limited_by
        );
    }
    output.note(size);
    let clock = std::time::Instant::now();
    let mut contacts = ContactMonitor::new(&system);
    let (mut made, mut told) = (0usize, clock);
    let visit = |state: &State| {
        made += 1;
        if made.is_multiple_of(64) && told.elapsed() > SILENCE {
            told = std::time::Instant::now();
            output.note(format!("step {made} of {steps}, t = {} s", number(state.time)));
        }
        contacts.push(&constants, state);
    };
    let (trajectory, failure) = match run.rollout_with(steps, stride, visit) {
        Ok(trajectory) => (trajectory, None),
        Err(failure) => (failure.partial, Some(Failure::from(failure.error))),
    };
    let wall = clock.elapsed().as_secs_f64();
    let mut warnings = bulk_modulus_warnings(&scene.model, &Registry::default());
    warnings.extend(narrow_geom_warnings(&scene.model));
    warnings.extend(contacts.finish().warnings());
    for warning in &warnings {
        output.warn(warning);
    }
    if let Some(path) = &args.out {
        let robot = scene.model.articulation.as_ref().filter(|a| !a.sensors.is_empty());
        let measured = match robot {
            Some(robot) if failure.is_none() => sensors::measure(&run, robot, &trajectory.states)?,
            _ => sensors::Measured::default(),
        };
        for text in &measured.left_out {
            output.warn(text);
        }
        motion::write(path, &scene.model, &trajectory, &measured.columns)?;
        output.note(format!("wrote {} states to {}", trajectory.states.len(), path.display()));
    }
    if let Some(path) = &args.gif {
        let clock = std::time::Instant::now();
        let settings = costate::render::MotionSettings::default();
        let gif = costate::render::motion_gif(&scene.model, &trajectory, &settings)?;
        costate::formats::write_atomically(path, |w| std::io::Write::write_all(w, &gif))?;
        let drawn = clock.elapsed().as_secs_f64();
        output.note(format!("wrote {}, drawn in {drawn:.2} s", path.display()));
    }
    if let Some(failure) = failure {
        if failure.code == INTERRUPTED {
            output.note("interrupted; what was simulated so far is written");
        }
        return Err(failure);
    }
    let last = trajectory.states.last().map_or(&start, |s| s);
    summary(output, &system, last, steps, wall);
    output.object(
        "costate.simulate/1",
        json!({
            "steps": steps,
            "time": last.time,
            "states": trajectory.states.len(),
            "stable_step": stable.bound.is_finite().then_some(stable.bound),
            "limited_by": stable.limited_by,
            "wall_s": wall,
            "warnings": warnings,
            "out": args.out.as_ref().map(|p| p.display().to_string()),
        }),
    );
    Ok(0)
}

fn summary(output: &mut Output, system: &System, last: &State, steps: usize, wall: f64) {
    let per_step = if steps > 0 { wall / steps as f64 } else { 0.0 };
    output.line(format!(
        "simulated {} s in {:.3} s ({:.2e} s per step)",
        number(last.time),
        wall,
        per_step
    ));
    for (b, body) in system.model().soft.iter().enumerate() {
        let first = system.model().first_vertex(b);
        let mut centre = [0.0; 3];
        for i in first..first + body.vertex_count {
            for k in 0..3 {
                centre[k] += last.q[3 * i + k] / body.vertex_count as f64;
            }
        }
        let [x, y, z] = centre.map(number);
        output.line(format!("soft.{}: mean position {x}, {y}, {z} m", body.name));
    }
}

/// Inputs with the controls of a keyframe, held, where nothing else drives an actuator.
fn with_controls_of(
    mut inputs: Inputs,
    keyframe: &str,
    model: &Model,
    channels: &[InputChannel],
) -> Inputs {
    let robot = model.articulation.as_ref();
    let Some((a, key)) = robot.and_then(|a| Some((a, a.keyframe(keyframe)?))) else {
        return inputs;
    };
    for (actuator, control) in a.actuators.iter().zip(&key.ctrl) {
        let name = format!("actuator.{}", actuator.name);
        let Some(i) = channels.iter().position(|c| c.name == name) else { continue };
        inputs.signals[i].get_or_insert_with(|| InputSignal::constant(&[*control]));
    }
    inputs
}

/// Input signals from a table: a column `t` and one column per component of a channel.
fn read_inputs(path: &Path, channels: &[InputChannel], hold: bool) -> Result<Inputs, Failure> {
    let table = Table::read(path)?;
    let times = table.column("t")?.values.clone();
    if let Some(i) = times.windows(2).position(|w| w[1].is_nan() || w[1] <= w[0]) {
        let message = format!("times must ascend; row {} does not", i + 2);
        return Err(Failure::refused("bad_input", message).in_file(path));
    }
    let mut used = vec!["t".to_string()];
    let mut signals = Vec::new();
    for channel in channels {
        let mut components = Vec::new();
        for k in 0..channel.size {
            let names = [
                format!("{}[{k}]", channel.name),
                format!("{}.{}", channel.name, ["x", "y", "z"].get(k).unwrap_or(&"")),
                channel.name.clone(),
            ];
            let count = if channel.size == 1 { 3 } else { 2 };
            let found = names[..count].iter().find(|n| table.names().any(|t| t == n.as_str()));
            components.push(found.map(|name| {
                used.push(name.clone());
                table.column(name).map(|c| c.values.clone())
            }));
        }
        if components.iter().all(Option::is_none) {
            signals.push(None);
            continue;
        }
        let mut values = vec![0.0; times.len() * channel.size];
        for (k, component) in components.into_iter().enumerate() {
            let Some(component) = component else { continue };
            for (i, value) in component?.iter().enumerate() {
                if !value.is_finite() {
                    let message = format!("{}: row {} is missing", channel.name, i + 1);
                    return Err(Failure::refused("bad_input", message).in_file(path));
                }
                values[i * channel.size + k] = *value;
            }
        }
        let interpolation = if hold { Interpolation::Hold } else { Interpolation::Linear };
        signals.push(Some(InputSignal { times: times.clone(), values, interpolation }));
    }
    if let Some(stray) = table.names().find(|n| !used.iter().any(|u| u == n)) {
        let known: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
        let message =
            format!("column `{stray}` is no input channel; known ones: {}", known.join(", "));
        return Err(Failure::refused("unknown_name", message).in_file(path));
    }
    Ok(Inputs { signals })
}
