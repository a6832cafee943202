//! Recordings: a table of numbers with times, signals, inputs and overrides.

use std::path::Path;

use costate_formats::table::Table;
use costate_formats::toml_reader::{Node, Section};
use costate_formats::{ErrorKind, Result};
use costate_model::{InputSignal, Interpolation};

use super::column::{Conversion, unit};
use super::signal::{SignalColumns, sigma};
use super::{Tables, place};
use crate::experiment::{Experiment, Override, Recording, Sigma, SignalData};

/// Whether `name` is a part of the recording `whole`, which is split.
pub(super) fn is_part(name: &str, whole: &str) -> bool {
    name.strip_prefix(whole).and_then(|rest| rest.strip_prefix('_')).is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '-')
    })
}

/// Time of model of each row, and which rows belong to one motion.
struct Rows {
    /// Rows of the table, ascending in time.
    rows: Vec<usize>,
    /// Model time of each of them, s.
    times: Vec<f64>,
}

pub(super) fn read(
    name: &str,
    node: &Node<'_>,
    columns: &[SignalColumns],
    tables: &Tables,
    experiment: &mut Experiment,
) -> Result<()> {
    let s = node.section()?;
    let given = s.get("file").and_then(|n| tables.get(n.string().ok()?));
    let table = match given {
        Some(table) => table.clone(),
        None => Table::read(s.req("file", Node::file_path)?)?,
    };
    let clock = Time::read(&s)?;
    let range = s.opt("range", |n| {
        let [a, b] = n.vector::<2>()?;
        if a < b { Ok([a, b]) } else { Err(n.out_of_bounds("two times, the earlier first")) }
    })?;
    let every = s.or("every", 1, |n| match n.count()? {
        0 => Err(n.out_of_bounds("an integer above 0")),
        k => Ok(k),
    })?;
    let split = s.opt("split_by", |n| Ok((n.clone(), n.string()?)))?;
    let offset = s.or("offset", 0.0, Node::number)?;
    let mut overrides = Vec::new();
    for (path, value) in s.entries("overrides")? {
        let values = if value.is_array() { value.numbers()? } else { vec![value.number()?] };
        overrides.push(Override { path, values, place: place(&value) });
    }
    let sources = sources(&s, columns)?;
    let mut parts: Vec<(String, Vec<usize>)> = Vec::new();
    match &split {
        None => parts.push((name.to_owned(), (0..table.rows()).collect())),
        Some((node, column)) => {
            let values = &at(node, table.column(column))?.values;
            for (row, value) in values.iter().enumerate() {
                if value.fract() != 0.0 || !value.is_finite() {
                    return Err(table
                        .error(ErrorKind::OutOfBounds, column, row)
                        .expected("an integer that numbers the segment")
                        .found(format!("{value}")));
                }
                let part = format!("{name}_{value}");
                match parts.iter_mut().find(|(n, _)| *n == part) {
                    Some((_, rows)) => rows.push(row),
                    None => parts.push((part, vec![row])),
                }
            }
        }
    }
    let inputs = inputs(&s, experiment)?;
    s.finish()?;
    for (name, rows) in parts {
        if experiment.recordings.iter().any(|r| r.name == name) {
            return Err(node
                .error(ErrorKind::Conflict)
                .expected("every name of a recording once")
                .found(format!("a second \"{name}\"")));
        }
        let all = clock.rows(&table, rows)?;
        let mut recording = Recording {
            name,
            overrides: overrides.clone(),
            offset,
            place: place(node),
            ..Default::default()
        };
        for input in &inputs {
            recording.inputs.push((input.channel.clone(), input.read(&table, &all)?));
        }
        let (first, last) = range.map_or((0.0, f64::INFINITY), |[a, b]| (a, b));
        let kept: Vec<usize> = (0..all.rows.len())
            .filter(|&i| all.times[i] >= first && all.times[i] <= last)
            .step_by(every)
            .collect();
        if let Some(&i) = kept.first()
            && all.times[i] + offset < -1e-9
        {
            return Err(table
                .error(ErrorKind::OutOfBounds, clock.column.as_str(), all.rows[i])
                .expected("a range of times from 0 on, when the simulation starts")
                .found(format!("{} s", all.times[i])));
        }
        if let Some(&i) = kept.first() {
            let values = table.columns().map(|c| (c.name.clone(), c.values[all.rows[i]]));
            recording.first_row = values.collect();
        }
        for source in &sources {
            for (k, &signal) in source.signals.iter().enumerate() {
                let column = at(&source.node, table.column(&source.columns[k]))?;
                recording.data.push(SignalData {
                    signal,
                    times: kept.iter().map(|&i| all.times[i]).collect(),
                    values: kept
                        .iter()
                        .map(|&i| source.conversion.apply(column.values[all.rows[i]]))
                        .collect(),
                    sigma: source.sigma,
                });
            }
        }
        let samples = |d: &SignalData| d.values.iter().any(|v| v.is_finite());
        if !recording.data.iter().any(samples) {
            return Err(node
                .error(ErrorKind::Missing)
                .expected("at least one sample of a signal in the range of times")
                .found(format!("none in {}", table.file.display())));
        }
        experiment.recordings.push(recording);
    }
    Ok(())
}

/// An error about a table's column points to the experiment file, where its name is written.
fn at<T>(node: &Node<'_>, found: Result<T>) -> Result<T> {
    found.map_err(|e| {
        if e.kind() == ErrorKind::UnknownName {
            let file = e.file().unwrap_or(Path::new("")).display().to_string();
            node.error(ErrorKind::UnknownName).found(format!("{} in {file}", e.message()))
        } else {
            e
        }
    })
}

/// The column with the times.
struct Time<'a> {
    node: Option<Node<'a>>,
    column: String,
    factor: f64,
    /// Recorded time (SI) of the model's time zero; `None` takes the first row's.
    t0: Option<f64>,
}

impl<'a> Time<'a> {
    fn read(s: &Section<'a>) -> Result<Self> {
        let Some(node) = s.get("time") else {
            return Ok(Self { node: None, column: "time".into(), factor: 1.0, t0: Some(0.0) });
        };
        if node.is_string() {
            let column = node.string()?.to_owned();
            return Ok(Self { node: Some(node), column, factor: 1.0, t0: Some(0.0) });
        }
        let t = node.section().map_err(|e| e.expected("the name of a column, or a table"))?;
        let column = t.or("column", "time".into(), |n| n.string().map(str::to_owned))?;
        let factor = t.or("unit", 1.0, |n| unit(n, "s").map(|u| u.factor))?;
        let t0 = t.or("t0", Some(0.0), |n| {
            if n.is_string() {
                n.choice(&[("first", None)])
            } else {
                n.number().map(|x| Some(x * factor))
            }
        })?;
        t.finish()?;
        Ok(Self { node: Some(node), column, factor, t0 })
    }

    fn rows(&self, table: &Table, rows: Vec<usize>) -> Result<Rows> {
        let column = match &self.node {
            Some(node) => at(node, table.column(&self.column))?,
            None => table.column(&self.column)?,
        };
        let mut times = Vec::with_capacity(rows.len());
        for &row in &rows {
            let time = column.values[row] * self.factor;
            let bad = if !time.is_finite() {
                Some("a time")
            } else if times.last().is_some_and(|last| time <= *last) {
                Some("a time after that of the row before")
            } else {
                None
            };
            if let Some(expected) = bad {
                let found = column.values[row];
                return Err(table
                    .error(ErrorKind::OutOfBounds, &self.column, row)
                    .expected(expected)
                    .found(if found.is_finite() { format!("{found}") } else { "none".into() }));
            }
            times.push(time);
        }
        let t0 = self.t0.or(times.first().copied()).unwrap_or(0.0);
        for time in &mut times {
            *time -= t0;
        }
        Ok(Rows { rows, times })
    }
}

/// Where a recording has a signal.
struct Source<'a> {
    node: Node<'a>,
    signals: Vec<usize>,
    columns: Vec<String>,
    conversion: Conversion,
    sigma: Option<Sigma>,
}

/// All signals by their own columns, the listed ones, or those of a table with other columns.
fn sources<'a>(s: &Section<'a>, columns: &[SignalColumns]) -> Result<Vec<Source<'a>>> {
    let Some(node) = s.get("signals") else {
        let file = s.req("file", |n| Ok(n.clone()))?;
        return Ok(columns.iter().map(|c| usual(c, file.clone())).collect());
    };
    let find = |node: &Node<'a>, name: &str| {
        columns.iter().find(|c| c.name == name).ok_or_else(|| {
            let e = node.error(ErrorKind::UnknownName).expected("the name of a signal");
            let known: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            e.found(format!("\"{name}\"")).advice(format!("known here: {}", known.join(", ")))
        })
    };
    if node.is_array() {
        let mut named: Vec<String> = Vec::new();
        let mut out = Vec::new();
        for item in node.items()? {
            let name = item.string()?;
            out.push(usual(find(&item, name)?, item.clone()));
            if named.iter().any(|n| n == name) {
                return Err(item
                    .error(ErrorKind::Conflict)
                    .expected("every signal once")
                    .found(format!("\"{name}\" twice")));
            }
            named.push(name.to_owned());
        }
        return Ok(out);
    }
    let mut out = Vec::new();
    for (name, node) in node.section()?.all() {
        let signal = find(&node, &name)?;
        let mut source = usual(signal, node.clone());
        let count = signal.signals.len();
        let names = |n: &Node<'_>| {
            let names: Vec<String> = n.strings()?.into_iter().map(str::to_owned).collect();
            if names.len() == count {
                Ok(names)
            } else {
                Err(n.out_of_bounds(format!("{count} names of columns")))
            }
        };
        if node.is_string() {
            source.columns = vec![node.string()?.to_owned()];
        } else if node.is_array() {
            source.columns = names(&node)?;
        } else {
            let t = node.section()?;
            t.exclusive(&["column", "columns"])?;
            if let Some(n) = t.get("column") {
                source.columns = vec![n.string()?.to_owned()];
            }
            if let Some(n) = t.get("columns") {
                source.columns = names(&n)?;
            }
            source.conversion = Conversion::read(&t, source.conversion, signal.unit)?;
            source.sigma = t.opt("sigma", |n| sigma(n, &source.conversion))?;
            t.finish()?;
        }
        if source.columns.len() != count {
            return Err(node
                .error(ErrorKind::WrongLength)
                .expected(format!("{count} columns for this signal"))
                .found("1"));
        }
        out.push(source);
    }
    Ok(out)
}

fn usual<'a>(columns: &SignalColumns, node: Node<'a>) -> Source<'a> {
    Source {
        node,
        signals: columns.signals.clone(),
        columns: columns.columns.clone(),
        conversion: columns.conversion,
        sigma: None,
    }
}

/// Where a recording has an input.
struct Input<'a> {
    node: Node<'a>,
    channel: String,
    columns: Vec<String>,
    value: Option<Vec<f64>>,
    conversion: Conversion,
    interpolation: Interpolation,
}

fn inputs<'a>(s: &Section<'a>, experiment: &Experiment) -> Result<Vec<Input<'a>>> {
    let channels = experiment.model.inputs();
    let mut out = Vec::new();
    for (name, node) in s.entries("inputs")? {
        let Some(channel) = channels.iter().find(|c| c.name == name) else {
            let known: Vec<&str> = channels.iter().map(|c| &*c.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(node
                .error(ErrorKind::UnknownName)
                .expected("an input of the scene")
                .found(format!("\"{name}\""))
                .advice(format!("known here: {known}")));
        };
        let t = node.section()?;
        t.exclusive(&["column", "columns", "value"])?;
        let wrong = |n: &Node<'_>, found: usize| {
            n.error(ErrorKind::WrongLength)
                .expected(format!("{} of them", channel.size))
                .found(format!("{found}"))
        };
        let text = |n: &Node<'_>| n.string().map(str::to_owned);
        let mut columns = Vec::new();
        if let Some(n) = t.get("column") {
            columns.push(text(&n)?);
        }
        if let Some(n) = t.get("columns") {
            columns = n.list("an array of names of columns", text)?;
        }
        let value = t.opt("value", |n| {
            let values = if n.is_array() { n.numbers()? } else { vec![n.number()?] };
            if values.len() == channel.size { Ok(values) } else { Err(wrong(n, values.len())) }
        })?;
        if value.is_none() && columns.len() != channel.size {
            return Err(wrong(&node, columns.len()).element(format!("columns of {name}")));
        }
        let conversion = Conversion::read(&t, Conversion::default(), channel.unit)?;
        let interpolation = t.or("interpolation", Interpolation::Hold, |n| {
            n.choice(&[("hold", Interpolation::Hold), ("linear", Interpolation::Linear)])
        })?;
        t.finish()?;
        out.push(Input { node, channel: name, columns, value, conversion, interpolation });
    }
    Ok(out)
}

impl Input<'_> {
    fn read(&self, table: &Table, all: &Rows) -> Result<InputSignal> {
        if let Some(value) = &self.value {
            let si: Vec<f64> = value.iter().map(|&x| self.conversion.apply(x)).collect();
            return Ok(InputSignal::constant(&si));
        }
        let mut lists = Vec::new();
        for name in &self.columns {
            lists.push(&at(&self.node, table.column(name))?.values);
        }
        let mut signal = InputSignal {
            times: Vec::new(),
            values: Vec::new(),
            interpolation: self.interpolation,
        };
        for (&row, &time) in all.rows.iter().zip(&all.times) {
            // A row in which a cell is missing says nothing about the input.
            if lists.iter().all(|l| l[row].is_finite()) {
                signal.times.push(time);
                signal.values.extend(lists.iter().map(|l| self.conversion.apply(l[row])));
            }
        }
        if signal.times.is_empty() {
            return Err(self
                .node
                .error(ErrorKind::Missing)
                .expected("at least one row with a value of every column")
                .found("none"));
        }
        Ok(signal)
    }
}
