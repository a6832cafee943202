//! `costate check SCENE`.

use std::sync::atomic::AtomicBool;

use costate::dynamics::{self, System};
use costate::model::Inputs;
use serde_json::json;

use crate::args::CheckArgs;
use crate::failure::{Failure, NOT_CONVERGED};
use crate::output::Output;
use crate::table;

/// Proves the derivatives of a scene.
pub fn run(args: &CheckArgs, output: &mut Output, interrupt: &AtomicBool) -> Result<u8, Failure> {
    let mut scene = super::scene(&args.scene, &args.set)?;
    if scene.model.options.saltation {
        // Narrow differences see one pattern of steps; the jump term is what they cannot see.
        scene.model.options.saltation = false;
        output.note("the saltation option is off in this check: narrow differences cannot show it");
    }
    if scene.model.options.smoothing > 0.0 {
        scene.model.options.smoothing = 0.0;
        output.note("smoothing is off in this check: differences see the motion as it is");
    }
    let system = System::new(&scene.model)?;
    let inputs = Inputs::default();
    // Beyond the stable step rounding grows like the motion, and no difference means anything.
    let constants = system.derive(&system.theta())?;
    let mut u = Vec::new();
    inputs.sample(system.channels(), 0.0, &mut u);
    system
        .check_timestep(&constants, &system.initial_state(&constants, &u), &u)
        .map_err(|e| Failure::from(e).in_file(&args.scene))?;
    let checks = dynamics::check(&system, &inputs, args.steps, Some(interrupt))?;
    let header = ["leaf", "derivative", "vs differences", "at width", "adjoint", ""];
    let mut rows = vec![header.map(String::from).to_vec()];
    for check in &checks {
        let verdict = match (check.influences, check.passes(), check.is_kink()) {
            (false, ..) => "no influence in this run".into(),
            (true, true, false) => "ok".into(),
            (true, true, true) => format!("ok: at a kink, the sides differ by {:.1e}", check.kink),
            (true, false, _) => "FAILS".into(),
        };
        rows.push(vec![
            check.path.clone(),
            table::number(check.derivative),
            if check.influences { format!("{:.1e}", check.difference_error) } else { "-".into() },
            if check.influences { format!("{:.0e}", check.width) } else { "-".into() },
            if check.influences { format!("{:.1e}", check.adjoint_error) } else { "-".into() },
            verdict,
        ]);
    }
    for line in table::render(&rows) {
        output.line(line);
    }
    let failed = checks.iter().filter(|c| !c.passes()).count();
    let idle = checks.iter().filter(|c| !c.influences).count();
    output.line(format!(
        "{} leaves: {} proved, {failed} fail (differences to 1e-6, adjoint against tangent to 1e-10)",
        checks.len(),
        checks.len() - idle - failed,
    ));
    if idle > 0 {
        let steps = args.steps;
        output.line(format!(
            "{idle} have no influence in these {steps} steps, so nothing is proved of them: what touches later is \
             seen with more --steps"
        ));
    }
    let list: Vec<_> = checks
        .iter()
        .map(|c| {
            json!({
                "path": c.path,
                "derivative": c.derivative,
                "difference_error": c.influences.then_some(c.difference_error),
                "kink": c.influences.then_some(c.kink),
                "width": c.influences.then_some(c.width),
                "adjoint_error": c.influences.then_some(c.adjoint_error),
                "influences": c.influences,
                "passes": c.passes(),
            })
        })
        .collect();
    output.object(
        "costate.check/1",
        json!({ "steps": args.steps, "leaves": list, "failed": failed, "without_influence": idle }),
    );
    Ok(if failed == 0 { 0 } else { NOT_CONVERGED })
}
