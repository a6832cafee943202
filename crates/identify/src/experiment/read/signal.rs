//! Signals: what is measured, in which columns, with what noise.

use costate_dynamics::observe::{Observation, Signal, Term, Wrap};
use costate_formats::toml_reader::{Node, Section};
use costate_formats::{ErrorKind, Result};

use super::column::Conversion;
use super::place;
use super::point::{OBSERVATIONS, observation};
use crate::experiment::{Experiment, Sigma, SignalSpec};

/// The columns that a signal is read from where a recording does not say otherwise.
pub(super) struct SignalColumns {
    pub name: String,
    /// Indices of its scalar signals in the experiment: one, or three for x, y, z.
    pub signals: Vec<usize>,
    /// Column of each.
    pub columns: Vec<String>,
    pub conversion: Conversion,
    /// SI unit of what is observed.
    pub unit: &'static str,
}

const COMPONENTS: [&str; 3] = ["x", "y", "z"];

pub(super) fn read(
    name: &str,
    node: &Node<'_>,
    experiment: &mut Experiment,
) -> Result<SignalColumns> {
    let s = node.section()?;
    s.exclusive(&["column", "columns"])?;
    let (terms, whole) = match s.get("terms") {
        Some(list) => {
            if let Some(extra) = OBSERVATIONS.iter().find_map(|k| s.get(k)) {
                return Err(extra
                    .error(ErrorKind::Conflict)
                    .expected("either one observation or \"terms\"")
                    .found("both"));
            }
            let terms = list.list("an array of tables", |n| term(n, experiment))?;
            if terms.is_empty() {
                return Err(list.out_of_bounds("at least one term"));
            }
            (terms, false)
        }
        None => {
            let observed = observation(&s, &experiment.model)?;
            let whole = observed.components() == 3 && s.get("component").is_none();
            if observed.components() > 3 && s.get("component").is_none() {
                let last = observed.components() - 1;
                let advice = format!("say which number, 0 to {last} (of a quaternion w, x, y, z)");
                return Err(s.missing("component").advice(advice));
            }
            let component = component(&s, observed.components())?;
            (vec![Term { coefficient: 1.0, observation: observed, component }], whole)
        }
    };
    let names: Vec<String> = if whole {
        COMPONENTS.iter().map(|c| format!("{name}.{c}")).collect()
    } else {
        vec![name.to_owned()]
    };
    let columns = if whole {
        let default: [String; 3] = COMPONENTS.map(|c| format!("{name}_{c}"));
        s.or("columns", default, |n| {
            n.tuple("an array of three names of columns, for x, y and z", |n| {
                n.string().map(str::to_owned)
            })
        })?
        .to_vec()
    } else {
        let one = |n: &Node<'_>| n.string().map(str::to_owned);
        match s.get("columns") {
            Some(node) => {
                let [only] = node.tuple("an array of one name, or \"column\"", one)?;
                vec![only]
            }
            None => vec![s.or("column", name.to_owned(), one)?],
        }
    };
    let mut signal = Signal::new(name, terms[0].observation.clone(), terms[0].component);
    signal.terms = terms;
    let unit = signal.unit();
    let conversion = Conversion::read(&s, Conversion::default(), unit)?;
    let known = noise(&signal, experiment).map_or(Sigma::Auto, Sigma::Given);
    let sigma = s.or("sigma", known, |n| sigma(n, &conversion))?;
    signal.constant = s.or("constant", 0.0, Node::number)?;
    signal.bias = s.or("bias", 0.0, Node::number)?;
    signal.scale = s.or("gain", 1.0, Node::number)?;
    signal.wrap =
        s.or("wrap", Wrap::None, |n| n.choice(&[("none", Wrap::None), ("angle", Wrap::Angle)]))?;
    signal.frame = s.opt("frame", |n| {
        let known: Vec<&str> = experiment.frames.iter().map(|f| &*f.name).collect();
        let name = n.string()?;
        known
            .iter()
            .position(|f| *f == name)
            .ok_or_else(|| n.unknown_name("a frame", known.iter().copied()))
    })?;
    s.finish()?;
    let first = experiment.signals.len();
    for (c, name) in names.iter().enumerate() {
        let mut one = signal.clone();
        one.name.clone_from(name);
        if whole {
            one.terms[0].component = c;
        }
        experiment.signals.push(SignalSpec { place: place(node), ..SignalSpec::new(one, sigma) });
    }
    let signals = (first..experiment.signals.len()).collect();
    Ok(SignalColumns { name: name.to_owned(), signals, columns, conversion, unit })
}

/// `component`: x, y or z, or 0, 1, 2; what has one component needs none.
fn component(s: &Section<'_>, count: usize) -> Result<usize> {
    s.or("component", 0, |n| {
        let index =
            if n.is_string() { n.choice(&[("x", 0), ("y", 1), ("z", 2)])? } else { n.count()? };
        if index < count {
            Ok(index)
        } else {
            Err(n.out_of_bounds(format!("one of the {count} components")))
        }
    })
}

fn term(node: &Node<'_>, experiment: &Experiment) -> Result<Term> {
    let s = node.section()?;
    let observation = observation(&s, &experiment.model)?;
    let count = observation.components();
    if count == 3 && s.get("component").is_none() {
        return Err(s.missing("component").advice("a term is one number: say x, y or z"));
    }
    let component = component(&s, count)?;
    let coefficient = s.or("coefficient", 1.0, Node::number)?;
    s.finish()?;
    Ok(Term { coefficient, observation, component })
}

/// The noise that the robot's file says its sensor has, where the signal is that sensor.
fn noise(signal: &Signal, experiment: &Experiment) -> Option<f64> {
    let [Term { observation: Observation::Sensor { sensor, .. }, coefficient, .. }] =
        &signal.terms[..]
    else {
        return None;
    };
    let a = experiment.model.articulation.as_ref()?;
    let noise = a.sensors[a.sensor(sensor)?].noise * coefficient.abs();
    (noise > 0.0).then_some(noise)
}

/// A number in the column's unit, or "auto".
pub(super) fn sigma(node: &Node<'_>, conversion: &Conversion) -> Result<Sigma> {
    if node.is_string() {
        return node.choice(&[("auto", Sigma::Auto)]);
    }
    let value = node.positive().map_err(|e| e.expected("a number above 0, or \"auto\""))?;
    Ok(Sigma::Given(value * conversion.factor()))
}
