//! Reading recorded results of warp.sim.

use serde_json::Value;

/// The recording of that name among those that the tests of `costate-dynamics` keep.
pub fn load(name: &str) -> Result<Value, String> {
    let folder = crate::root().join("crates/dynamics/tests/data/warp");
    let path = folder.join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// All numbers in a nested array, in order.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

/// One number; NaN where there is none.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
