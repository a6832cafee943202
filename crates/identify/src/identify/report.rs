//! From where a search ended to what it means.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use costate_dynamics::contact::narrow_geom_warnings;
use nalgebra::DMatrix;

use super::evaluate::signal_fits;
use super::notes::Notes;
use super::refit::{Refit, refits};
use super::search::Found;
use super::warnings;
use crate::error::IdentifyError;
use crate::least_squares::{Block, LeastSquares, Status, Structure};
use crate::problem::{FitProblem, Problem, Unknown};
use crate::result::{
    Correlation, Goodness, Identification, NotIdentifiable, Numbers, Parameter, RESULT_SCHEMA,
};
use crate::uncertainty::{Covariance, Series, covariance, t_quantile, weak_directions};

/// More unknowns than this get no covariance: it would cost more than the fit.
const COVARIANCE_MAX: usize = 600;

pub(super) fn report(
    problem: &Problem,
    found: Found,
    not_identifiable: Vec<NotIdentifiable>,
    interrupt: Option<&AtomicBool>,
    begin: Instant,
) -> Result<Identification, IdentifyError> {
    let Found { p, status, blocks, at_bound, checkpoint, .. } = &found;
    let unknowns = &problem.unknowns;
    let mut notes = Notes::default();
    notes.0.extend(problem.left_out.iter().cloned());
    let uncertainty = uncertainty(problem, blocks, at_bound, &found, &mut notes);
    // What is left is short; an interrupt of the search must not spoil the report.
    let interrupt = interrupt.filter(|_| *status != Status::Interrupted);
    let mut failures = Vec::new();
    let own = refits(problem, p, &found.noise, interrupt, &mut failures)?;
    let given = found.shooting.as_ref().map(|(predicted, _)| predicted.as_slice());
    let signals = signal_fits(problem, p, &own, given, &found.noise, interrupt, &mut failures)?;
    notes.0.extend(
        failures.iter().map(|(name, e)| format!("recording {name} cannot be predicted: {e}")),
    );
    let fit = FitProblem::new(problem, found.noise.per_sample(problem), None);
    let start = problem.start();
    let cost_initial = match &found.regression {
        Some(regression) => regression.cost_initial,
        None => fit
            .residuals(&start)
            .map(|parts| parts.iter().map(|(r, n)| fit.loss().cost(r, *n)).sum())
            .unwrap_or(found.cost),
    };
    notes.0.extend(found.regression.iter().flat_map(|regression| regression.notes.clone()));
    notes.0.extend(found.shooting.iter().map(|(_, note)| note.clone()));
    if unknowns.len() <= COVARIANCE_MAX
        && found.regression.is_none()
        && found.shooting.is_none()
        && let Ok((_, growth)) = fit.linearise_with_growth(p)
    {
        notes.0.extend(warnings::growth(problem, &growth));
    }
    notes.0.extend(warnings::contacts(problem, p));
    notes.0.extend(problem.model_at(p).map(|m| narrow_geom_warnings(&m)).unwrap_or_default());
    for (when, p) in [("at the start", &start), ("at the estimate", p)] {
        let found = warnings::bulk_modulus(problem, p);
        notes.0.extend(found.into_iter().map(|text| format!("{when}, {text}")));
    }
    let goodness = goodness(problem, blocks);
    notes.search(&found, problem);
    if unknowns.is_empty() {
        notes.add("there is nothing to find: no parameters are selected");
    }
    let unexplained = notes.fit(&goodness, &signals, &found);
    let mut parameters = parameters(unknowns, p, at_bound, &uncertainty);
    for Refit { problem: alone, found } in own.values() {
        let uncertainty =
            self::uncertainty(alone, &found.blocks, &found.at_bound, found, &mut Notes::default());
        let own = self::parameters(&alone.unknowns, &found.p, &found.at_bound, &uncertainty);
        parameters.extend(own);
    }
    notes.parameters(&parameters);
    Ok(Identification {
        schema: RESULT_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        experiment: problem.name.clone(),
        method: problem.method.kind.name().into(),
        parameters,
        cost: found.cost,
        cost_initial,
        iterations: found.iterations,
        evaluations: checkpoint.runs,
        converged: status.converged() && !unexplained,
        status: *status,
        wall_s: checkpoint.wall_s.max(begin.elapsed().as_secs_f64()),
        goodness,
        widening: uncertainty.widening,
        correlation: uncertainty.correlation,
        weak_directions: uncertainty.weak,
        not_identifiable,
        warnings: notes.0,
        signals,
        history: checkpoint.history.clone(),
    })
}

/// Standard errors and what belongs to them, over all unknowns.
struct Uncertainty {
    /// In p; `None` where there is none.
    errors: Vec<Option<f64>>,
    quantile: f64,
    widening: f64,
    correlation: Correlation,
    weak: Vec<crate::result::WeakDirection>,
}

fn uncertainty(
    problem: &Problem,
    blocks: &[Block],
    at_bound: &[bool],
    found: &Found,
    notes: &mut Notes,
) -> Uncertainty {
    let unknowns = &problem.unknowns;
    let mut result = Uncertainty {
        errors: vec![None; unknowns.len()],
        quantile: 1.96,
        widening: 1.0,
        correlation: Correlation::default(),
        weak: Vec::new(),
    };
    if unknowns.is_empty() {
        return result;
    }
    if unknowns.len() > COVARIANCE_MAX {
        notes.add(format!(
            "no uncertainty: a covariance of {} unknowns is not computed (the limit is \
             {COVARIANCE_MAX})",
            unknowns.len()
        ));
        return result;
    }
    let kept: Vec<usize> = (0..unknowns.len()).filter(|&i| !at_bound[i]).collect();
    let (structure, blocks) = without(&problem.structure, blocks, at_bound);
    let mut series = Vec::new();
    match &found.regression {
        Some(regression) => series.clone_from(&regression.series),
        None => {
            for (b, &r) in problem.fitted.iter().enumerate() {
                for rows in &problem.recordings[r].series {
                    series.push(Series { block: b, rows: rows.clone().collect() });
                }
            }
        }
    }
    let covariance: Covariance = covariance(&structure, &blocks, &series, problem.method.loss);
    let names: Vec<&str> = kept.iter().map(|&i| unknowns[i].name.as_str()).collect();
    let logs: Vec<bool> = kept.iter().map(|&i| unknowns[i].is_logarithm()).collect();
    let fixed = covariance.matrix.is_some();
    // With fewer data than unknowns every direction but a few is free, which one sentence says.
    let rows: usize = blocks.iter().map(|b| b.residuals.len()).sum();
    if rows >= kept.len() {
        result.weak = weak_directions(&covariance, &names, &logs);
    }
    let Some(errors) = covariance.standard_errors() else {
        notes.add(if rows < kept.len() {
            format!(
                "no uncertainty: {rows} data cannot fix {} unknowns; this is one of many solutions",
                kept.len()
            )
        } else {
            "no uncertainty: the data do not fix every unknown (see the weak directions)".into()
        });
        return result;
    };
    debug_assert!(fixed);
    result.widening = covariance.largest_widening();
    if result.widening > 1.05 {
        notes.add(format!(
            "residuals are correlated in time: standard errors and intervals are widened by up to \
             a factor of {:.2}",
            result.widening
        ));
    }
    let freedom = covariance.degrees_of_freedom.max(1) as f64;
    if found.noise.is_estimated() {
        let effective = (freedom / result.widening.powi(2)).max(1.0);
        result.quantile = t_quantile(0.975, effective);
        if covariance.degrees_of_freedom <= 0 {
            notes.add(
                "no uncertainty: as many unknowns as data leave nothing to estimate the noise from",
            );
            return result;
        }
    } else {
        result.quantile = t_quantile(0.975, 1e6);
    }
    for (&i, e) in kept.iter().zip(&errors) {
        result.errors[i] = Some(*e);
    }
    if let Some(matrix) = covariance.correlations() {
        result.correlation = Correlation {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            matrix: matrix.row_iter().map(|r| r.iter().copied().collect()).collect(),
        };
    }
    result
}

/// The linearisation without the unknowns that their bounds hold.
fn without(structure: &Structure, blocks: &[Block], held: &[bool]) -> (Structure, Vec<Block>) {
    let count = |range: std::ops::Range<usize>| range.filter(|&i| !held[i]).count();
    let reduced = Structure {
        shared: count(0..structure.shared),
        local: (0..structure.local.len()).map(|b| count(structure.local_range(b))).collect(),
    };
    let blocks = blocks
        .iter()
        .enumerate()
        .map(|(b, block)| {
            let keep: Vec<usize> = structure
                .columns(b)
                .enumerate()
                .filter(|(_, column)| !held[*column])
                .map(|(k, _)| k)
                .collect();
            let rows = block.residuals.len();
            let jacobian = DMatrix::from_fn(rows, keep.len(), |i, k| block.jacobian[(i, keep[k])]);
            Block { residuals: block.residuals.clone(), jacobian, priors: block.priors }
        })
        .collect();
    (reduced, blocks)
}

fn parameters(
    unknowns: &[Unknown],
    p: &[f64],
    at_bound: &[bool],
    uncertainty: &Uncertainty,
) -> BTreeMap<String, Parameter> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, unknown) in unknowns.iter().enumerate() {
        groups.entry(unknown.group.clone()).or_default().push(i);
    }
    groups
        .into_iter()
        .map(|(group, members)| {
            let single = members.len() == 1 && unknowns[members[0]].name == group;
            let numbers = |f: &dyn Fn(usize) -> f64| {
                if single {
                    Numbers::One(f(members[0]))
                } else {
                    Numbers::Many(members.iter().map(|&i| f(i)).collect())
                }
            };
            let first = &unknowns[members[0]];
            let value = |i: usize, p: f64| unknowns[i].transform.value(p);
            let known = members.iter().all(|&i| uncertainty.errors[i].is_some());
            let error = |i: usize| uncertainty.errors[i].unwrap_or(0.0);
            let physical = |i: usize| unknowns[i].transform.slope(p[i]).abs() * error(i);
            let interval = |i: usize| {
                let half = uncertainty.quantile * error(i);
                let (a, b) = (value(i, p[i] - half), value(i, p[i] + half));
                [a.min(b), a.max(b)]
            };
            // An interval runs into overflow where nothing is known; then there is none.
            let finite = known
                && members
                    .iter()
                    .all(|&i| physical(i).is_finite() && interval(i).iter().all(|x| x.is_finite()));
            let parameter = Parameter {
                unit: first.unit.into(),
                names: if single {
                    Vec::new()
                } else {
                    members.iter().map(|&i| unknowns[i].name.clone()).collect()
                },
                initial: numbers(&|i| value(i, unknowns[i].start)),
                estimate: numbers(&|i| value(i, p[i])),
                std_error: finite.then(|| numbers(&physical)),
                ci95: finite.then(|| members.iter().map(|&i| interval(i)).collect()),
                transform: first.transform_name().into(),
                at_bound: members.iter().any(|&i| at_bound[i]),
                prior: first.prior.and_then(|prior| prior.mean),
            };
            (group, parameter)
        })
        .collect()
}

fn goodness(problem: &Problem, blocks: &[Block]) -> Goodness {
    let (mut chi2, mut samples) = (0.0, 0);
    for block in blocks {
        let data = block.residuals.len() - block.priors;
        samples += data;
        chi2 += block.residuals[..data].iter().map(|r| r * r).sum::<f64>();
    }
    let parameters = problem.unknowns.len();
    let degrees_of_freedom = samples as i64 - parameters as i64;
    let chi2_reduced = (degrees_of_freedom > 0).then(|| chi2 / degrees_of_freedom as f64);
    Goodness { chi2, samples, parameters, degrees_of_freedom, chi2_reduced }
}
