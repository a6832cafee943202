//! Unknowns.

use costate_formats::toml_reader::Node;
use costate_formats::{ErrorKind, Result};
use costate_model::{Entry, Map, Prior, Spread, Transform};

use super::place;
use crate::experiment::{FirstRow, ParameterSpec, Unit};

pub(super) fn read(path: &str, node: &Node<'_>) -> Result<ParameterSpec> {
    let s = node.section().map_err(|e| {
        e.expected("a table").advice(format!(
            "write \"{path}\" = {{ start = … }}, or {{}} to start from the scene's value"
        ))
    })?;
    let mut entry = Entry::new(path);
    let mut first = None;
    if let Some(n) = s.get("start") {
        if n.is_table() {
            first = Some(first_row(&n)?);
        } else if n.is_array() {
            entry.start = Some(n.numbers()?);
        } else {
            entry.start = Some(vec![n.number()?]);
        }
    }
    entry.bounds = s.opt("bounds", |n| {
        let [a, b] = n.vector::<2>()?;
        if a < b { Ok((a, b)) } else { Err(n.out_of_bounds("two numbers, the smaller first")) }
    })?;
    entry.components = s.opt("components", component_list)?;
    entry.tied = s.or("tied", false, Node::boolean)?;
    #[derive(Clone, Copy)]
    enum Over {
        Uniform,
        Element,
        Group,
    }
    let over = s.or("spread", Over::Uniform, |n| {
        n.choice(&[
            ("uniform", Over::Uniform),
            ("per_element", Over::Element),
            ("per_group", Over::Group),
        ])
    })?;
    let groups = s.opt("groups", |n| {
        if !matches!(over, Over::Group) {
            return Err(n
                .error(ErrorKind::Conflict)
                .expected("spread = \"per_group\" beside groups")
                .found("another spread"));
        }
        Ok(n.strings()?.into_iter().map(str::to_owned).collect::<Vec<String>>())
    })?;
    entry.spread = match over {
        Over::Uniform => Spread::Uniform,
        Over::Element => Spread::PerElement,
        Over::Group => Spread::PerGroup(groups),
    };
    let bounds = entry.bounds;
    entry.transform = s.opt("transform", |n| transform(n, bounds))?;
    entry.prior = s.opt("prior", |n| {
        let t = n.section()?;
        let prior = Prior {
            mean: t.opt("mean", Node::number)?,
            sd: t.req("sd", Node::positive)?,
            transformed: t.or("transformed", false, Node::boolean)?,
        };
        t.finish()?;
        Ok(prior)
    })?;
    let (per_recording, in_validation) = s.or("per_recording", (false, false), |n| {
        if n.is_string() { n.choice(&[("all", (true, true))]) } else { Ok((n.boolean()?, false)) }
    })?;
    let scan = s.opt("scan", |n| scan(n, bounds, per_recording))?;
    s.finish()?;
    Ok(ParameterSpec { entry, per_recording, in_validation, first, scan, place: place(node) })
}

/// A number of values between the bounds, or the values.
fn scan(node: &Node<'_>, bounds: Option<(f64, f64)>, per_recording: bool) -> Result<Vec<f64>> {
    if per_recording {
        return Err(node
            .error(ErrorKind::Conflict)
            .expected("a parameter that all recordings share")
            .found("per_recording"));
    }
    if node.is_array() {
        return node.numbers();
    }
    let Some((lower, upper)) = bounds else {
        let found = node.error(ErrorKind::Missing).expected("the key \"bounds\" beside a scan");
        return Err(found.found("none"));
    };
    let count = node.count()?;
    if count < 2 {
        return Err(node.out_of_bounds("at least two values"));
    }
    let step = (upper - lower) / (count - 1) as f64;
    Ok((0..count).map(|k| (lower + step * k as f64).min(upper)).collect())
}

/// `{ column = "q" }` or `{ columns = ["x", "y"] }`, with `unit`.
fn first_row(node: &Node<'_>) -> Result<FirstRow> {
    let t = node.section()?;
    t.exclusive(&["column", "columns"])?;
    let text = |n: &Node<'_>| n.string().map(str::to_owned);
    let columns = match t.get("columns") {
        Some(n) => n.list("an array of names of columns", text)?,
        None => vec![t.req("column", text)?],
    };
    let unit = t.opt("unit", |n| {
        let name = n.string()?;
        Unit::find(name).ok_or_else(|| n.unknown_name("a unit", Unit::names()))
    })?;
    t.finish()?;
    Ok(FirstRow { columns, unit })
}

/// Indices, or x, y, z.
fn component_list(node: &Node<'_>) -> Result<Vec<usize>> {
    node.list("an array of components (x, y, z or indices)", |n| {
        if n.is_string() { n.choice(&[("x", 0), ("y", 1), ("z", 2)]) } else { n.count() }
    })
}

/// "identity", "log", "bounded" (by the parameter's bounds), `{ bounded = [a, b] }`,
/// `{ affine = [offset, scale] }`, or an array of these, the outermost first.
fn transform(node: &Node<'_>, bounds: Option<(f64, f64)>) -> Result<Transform> {
    let mut maps = Vec::new();
    if node.is_array() {
        for item in node.items()? {
            maps.extend(map(&item, bounds)?);
        }
    } else {
        maps.extend(map(node, bounds)?);
    }
    Transform::new(maps).map_err(|e| {
        node.error(ErrorKind::OutOfBounds).expected("a transform").found(e.to_string())
    })
}

fn map(node: &Node<'_>, bounds: Option<(f64, f64)>) -> Result<Option<Map>> {
    #[derive(Clone, Copy)]
    enum Kind {
        Identity,
        Log,
        Bounded,
    }
    if node.is_table() {
        let t = node.section()?;
        t.exclusive(&["bounded", "affine"])?;
        let bounded = t.opt("bounded", Node::vector::<2>)?;
        let affine = t.opt("affine", Node::vector::<2>)?;
        t.finish()?;
        return match (bounded, affine) {
            (Some([lower, upper]), _) => Ok(Some(Map::Bounded { lower, upper })),
            (None, Some([offset, scale])) => Ok(Some(Map::Affine { offset, scale })),
            (None, None) => Err(t.missing("affine")),
        };
    }
    let kind = node.choice(&[
        ("identity", Kind::Identity),
        ("log", Kind::Log),
        ("bounded", Kind::Bounded),
    ])?;
    match (kind, bounds) {
        (Kind::Identity, _) => Ok(None),
        (Kind::Log, _) => Ok(Some(Map::Log)),
        (Kind::Bounded, Some((lower, upper))) => Ok(Some(Map::Bounded { lower, upper })),
        (Kind::Bounded, None) => Err(node
            .error(ErrorKind::Missing)
            .expected("the key \"bounds\" beside a bounded transform")
            .found("none")),
    }
}
