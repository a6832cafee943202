//! Numbers from and to NumPy.

use numpy::{AllowTypeChange, IntoPyArray, PyArrayLikeDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use crate::errors::{Result, invalid};

/// Any array-like of numbers as `f64` in row-major order, with its shape.
pub fn numbers(value: &Bound<'_, PyAny>, what: &str) -> Result<(Vec<f64>, Vec<usize>)> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok((vec![number.value()], vec![]));
    }
    let Ok(array) = value.extract::<PyArrayLikeDyn<'_, f64, AllowTypeChange>>() else {
        let kind = value.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string());
        return invalid(format!("{what}: expected numbers, found {kind}"));
    };
    let shape = array.shape().to_vec();
    Ok((array.as_array().iter().copied().collect(), shape))
}

/// A vector as an array of the given shape, without a copy; a plain number where the shape is
/// empty.
pub fn array<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    if shape.is_empty() && values.len() == 1 {
        return Ok(PyFloat::new(py, values[0]).into_any());
    }
    Ok(values.into_pyarray(py).reshape(shape.to_vec())?.into_any())
}
