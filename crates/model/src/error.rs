//! What can be wrong with a model.

use crate::leaf::{Bounds, Leaves};

/// A model that contradicts itself, or a question about it that has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No leaf has this path.
    #[error("there is no leaf `{path}`{}", hint(path, nearest))]
    UnknownLeaf {
        /// The path asked for.
        path: String,
        /// Known paths that look like it.
        nearest: Vec<String>,
    },
    /// Two things have one name.
    #[error("the name `{path}` is taken; choose another")]
    DuplicateName {
        /// The name.
        path: String,
    },
    /// An array has the wrong number of values.
    #[error("`{path}` takes {expected} values, found {found}")]
    WrongLength {
        /// The leaf or array.
        path: String,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A value lies outside its physical bounds.
    #[error("`{path}` (value {index}) is {}, but must be {}", plain(*value), describe(bounds))]
    OutOfBounds {
        /// The leaf.
        path: String,
        /// Which of its values.
        index: usize,
        /// The value.
        value: f64,
        /// What is allowed.
        bounds: Bounds,
    },
    /// A leaf that is one value for the whole was asked for per element.
    #[error("`{path}` is not given per element, so it cannot be selected per element or group")]
    NotAField {
        /// The leaf.
        path: String,
    },
    /// Two views of one quantity were asked for at once.
    #[error("`{first}` and `{second}` are two views of the same quantity; choose one")]
    ConflictingViews {
        /// One of the two.
        first: String,
        /// The other.
        second: String,
    },
    /// An element, index or shape that makes no sense.
    #[error("{element}: {message}")]
    Invalid {
        /// What is wrong: `soft.beam: tetrahedron 17`.
        element: String,
        /// Why, and what to do.
        message: String,
    },
}

impl ModelError {
    /// An [`Invalid`](Self::Invalid) element.
    pub fn invalid(element: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { element: element.into(), message: message.into() }
    }

    pub(crate) fn unknown_leaf(path: &str, leaves: &Leaves) -> Self {
        let mut scored: Vec<(usize, &str)> =
            leaves.iter().map(|(_, leaf)| (distance(path, &leaf.path), &*leaf.path)).collect();
        scored.sort();
        let limit = 2 + path.len() / 3;
        let nearest =
            scored.iter().filter(|(d, _)| *d <= limit).take(3).map(|(_, p)| (*p).into()).collect();
        Self::UnknownLeaf { path: path.into(), nearest }
    }
}

/// Settings of a simulation that are no physical quantities.
const SETTINGS: [&str; 6] = ["timestep", "duration", "up", "saltation", "smoothing", "integrator"];

fn hint(path: &str, nearest: &[String]) -> String {
    let setting = path.strip_prefix("option.").unwrap_or(path);
    if SETTINGS.contains(&setting) {
        format!(
            "; `{setting}` is a setting, no physical quantity: it stands under [option] in a scene's \
             file and in <option> in a robot's"
        )
    } else if nearest.is_empty() {
        "; `costate params` lists them all".into()
    } else {
        format!("; did you mean `{}`?", nearest.join("` or `"))
    }
}

/// A number without long rows of zeros.
fn plain(x: f64) -> String {
    if x == 0.0 || (1e-4..1e12).contains(&x.abs()) || !x.is_finite() {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

fn describe(bounds: &Bounds) -> String {
    let lower = if bounds.lower == f64::NEG_INFINITY {
        None
    } else if bounds.open_below {
        Some(format!("greater than {}", plain(bounds.lower)))
    } else {
        Some(format!("at least {}", plain(bounds.lower)))
    };
    let upper = if bounds.upper == f64::INFINITY {
        None
    } else if bounds.open_above {
        Some(format!("less than {}", plain(bounds.upper)))
    } else {
        Some(format!("at most {}", plain(bounds.upper)))
    };
    match (lower, upper) {
        (Some(a), Some(b)) => format!("{a} and {b}"),
        (Some(a), None) | (None, Some(a)) => a,
        (None, None) => "a finite number".into(),
    }
}

/// Levenshtein distance, for suggestions.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let next = (diagonal + usize::from(ca != *cb)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
