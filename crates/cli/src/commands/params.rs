//! `costate params SCENE`.

use costate::model::{Extent, Leaf};
use serde_json::{Value, json};

use crate::args::ParamsArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::table;

/// Lists the leaves of a scene.
pub fn run(args: &ParamsArgs, output: &mut Output) -> Result<u8, Failure> {
    let scene = super::scene(&args.scene, &args.set)?;
    let wanted = |leaf: &&Leaf| args.filter.as_ref().is_none_or(|f| leaf.path.contains(f.as_str()));
    let leaves: Vec<&Leaf> = scene.model.leaves.iter().map(|(_, l)| l).filter(wanted).collect();
    let mut rows =
        vec![["leaf", "value", "unit", "bounds", "per", "about"].map(String::from).to_vec()];
    for leaf in &leaves {
        let per = match &leaf.extent {
            Extent::Whole => String::new(),
            Extent::Field { count, element, .. } => format!("{count} {element}"),
        };
        rows.push(vec![
            leaf.path.clone(),
            table::values(&leaf.values),
            leaf.unit.into(),
            bounds_text(leaf),
            per,
            leaf.about.clone(),
        ]);
    }
    for line in table::render(&rows) {
        output.line(line);
    }
    let list: Vec<Value> = leaves.iter().map(|leaf| describe(leaf)).collect();
    output.object("costate.params/1", json!({ "leaves": list }));
    Ok(0)
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn describe(leaf: &Leaf) -> Value {
    let value = if leaf.shape.is_empty() { json!(leaf.values[0]) } else { json!(leaf.values) };
    let field = match &leaf.extent {
        Extent::Whole => Value::Null,
        Extent::Field { count, element, groups } => json!({
            "element": element,
            "count": count,
            "groups": groups.keys().collect::<Vec<_>>(),
        }),
    };
    json!({
        "path": leaf.path,
        "value": value,
        "unit": leaf.unit,
        "shape": leaf.shape,
        "bounds": [finite(leaf.bounds.lower), finite(leaf.bounds.upper)],
        "about": leaf.about,
        "field": field,
    })
}

fn bounds_text(leaf: &Leaf) -> String {
    let b = leaf.bounds;
    match (finite(b.lower), finite(b.upper)) {
        (None, None) => String::new(),
        (Some(low), None) => format!("{} {low}", if b.open_below { ">" } else { ">=" }),
        (None, Some(high)) => format!("{} {high}", if b.open_above { "<" } else { "<=" }),
        (Some(low), Some(high)) => format!("{low} .. {high}"),
    }
}
