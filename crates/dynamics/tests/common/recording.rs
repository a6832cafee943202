//! Reading recorded results of warp.sim.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The recording of that name: from the folder `warp` in `COSTATE_REFERENCE` where that is set,
/// else from the copies kept here. A relative folder counts from the workspace.
pub fn load(name: &str) -> Option<Value> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = match std::env::var_os("COSTATE_REFERENCE") {
        Some(folder) => here.join("../..").join(PathBuf::from(folder)).join("warp"),
        None => here.join("tests/data/warp"),
    };
    let path = folder.join(format!("{name}.json"));
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(_) if std::env::var_os("COSTATE_REFERENCE").is_none() => return None,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// All numbers in a nested array, in order.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::Null => Vec::new(),
        other => vec![other.as_f64().unwrap_or_else(|| panic!("{other} is no number"))],
    }
}

/// One number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}
