//! How to search.

use costate_formats::toml_reader::{Node, Section};
use costate_formats::{ErrorKind, Result};

use crate::experiment::{Derivatives, Method, MethodKind, MultiStart, Shooting, Unidentifiable};
use crate::least_squares::Loss;

/// Huber's and Cauchy's scales that are 95 % efficient for normal noise.
const HUBER: f64 = 1.345;
const CAUCHY: f64 = 2.385;

pub(super) fn read(s: &Section<'_>) -> Result<Method> {
    let base = Method::default();
    let kind = s.or("name", base.kind, |n| {
        n.choice(&[
            ("lm", MethodKind::Lm),
            ("lbfgs", MethodKind::Lbfgs),
            ("adam", MethodKind::Adam),
            ("regressor", MethodKind::Regressor),
        ])
    })?;
    let squares = matches!(kind, MethodKind::Lm | MethodKind::Regressor);
    let iterations = if squares { base.max_iterations } else { 1000 };
    let method = Method {
        kind,
        max_iterations: s.or("max_iterations", iterations, Node::count)?,
        cost_tolerance: s.or("cost_tolerance", base.cost_tolerance, Node::non_negative)?,
        step_tolerance: s.or("step_tolerance", base.step_tolerance, Node::non_negative)?,
        loss: s.or("loss", base.loss, loss)?,
        multi_start: s.opt("multi_start", multi_start)?,
        horizons: s.opt("horizons", horizons)?,
        shooting: match kind {
            MethodKind::Lm => s.opt("shooting", shooting)?,
            _ => None,
        },
        derivatives: s.or("derivatives", base.derivatives, |n| {
            n.choice(&[
                ("auto", Derivatives::Auto),
                ("forward", Derivatives::Forward),
                ("adjoint", Derivatives::Adjoint),
            ])
        })?,
        memory: s.or("memory", base.memory, memory)?,
        learning_rate: s.or("learning_rate", base.learning_rate, Node::positive)?,
        unidentifiable: s.or("unidentifiable", base.unidentifiable, |n| {
            n.choice(&[("refuse", Unidentifiable::Refuse), ("warn", Unidentifiable::Warn)])
        })?,
        cutoff: match kind {
            MethodKind::Regressor => s.opt("cutoff", Node::positive)?,
            _ => None,
        },
        decimate: match kind {
            MethodKind::Regressor => s.or("decimate", base.decimate, positive_count)?,
            _ => base.decimate,
        },
    };
    s.exclusive(&["multi_start", "shooting"])?;
    s.finish()?;
    Ok(method)
}

fn positive_count(node: &Node<'_>) -> Result<usize> {
    match node.count()? {
        0 => Err(node.out_of_bounds("an integer above 0")),
        k => Ok(k),
    }
}

/// "squares", "huber", "cauchy", or `{ huber = 1.345 }` with a scale in units of σ.
fn loss(node: &Node<'_>) -> Result<Loss> {
    if !node.is_table() {
        return node.choice(&[
            ("squares", Loss::Squares),
            ("huber", Loss::Huber(HUBER)),
            ("cauchy", Loss::Cauchy(CAUCHY)),
        ]);
    }
    let t = node.section()?;
    t.exclusive(&["huber", "cauchy"])?;
    let huber = t.opt("huber", Node::positive)?;
    let cauchy = t.opt("cauchy", Node::positive)?;
    t.finish()?;
    match (huber, cauchy) {
        (Some(scale), _) => Ok(Loss::Huber(scale)),
        (None, Some(scale)) => Ok(Loss::Cauchy(scale)),
        (None, None) => Err(t.missing("huber")),
    }
}

/// Ascending times, s.
fn horizons(node: &Node<'_>) -> Result<Vec<f64>> {
    let times = node.numbers()?;
    if times.iter().all(|t| *t > 0.0) && times.windows(2).all(|w| w[0] < w[1]) {
        Ok(times)
    } else {
        Err(node.out_of_bounds("ascending times above 0"))
    }
}

/// A number of starts, or `{ starts, spread, seed }`.
fn multi_start(node: &Node<'_>) -> Result<MultiStart> {
    let starts = positive_count;
    let (spread, seed) = (10.0, 1);
    if node.is_number() {
        return Ok(MultiStart { starts: starts(node)?, spread, seed });
    }
    let t = node.section()?;
    let found = MultiStart {
        starts: t.req("starts", starts)?,
        spread: t.or("spread", spread, |n| n.bounded("a number above 1", |x| x > 1.0))?,
        seed: t.or("seed", seed, |n| n.count().map(|k| k as u64))?,
    };
    t.finish()?;
    Ok(found)
}

/// The length of a window, or `{ window, tolerance }`.
fn shooting(node: &Node<'_>) -> Result<Shooting> {
    let tolerance = 1e-5;
    if node.is_number() {
        return Ok(Shooting { window: node.positive()?, tolerance });
    }
    let t = node.section()?;
    let found = Shooting {
        window: t.req("window", Node::positive)?,
        tolerance: t.or("tolerance", tolerance, |n| {
            n.bounded("a number above 0, at most 0.1", |x| x > 0.0 && x <= 0.1)
        })?,
    };
    t.finish()?;
    Ok(found)
}

/// Bytes, or a string such as "64 MB".
fn memory(node: &Node<'_>) -> Result<usize> {
    const MEANT: &str = "a number of bytes or a string such as \"64 MB\"";
    if node.is_number() {
        return node.bounded(MEANT, |x| (1.0..1e15).contains(&x)).map(|x| x as usize);
    }
    let text = node.string().map_err(|e| e.expected(MEANT))?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim();
    let unit = match text[digits.len()..].trim() {
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => 0.0,
    };
    let bytes = digits.parse::<f64>().unwrap_or(0.0) * unit;
    if (1.0..1e15).contains(&bytes) {
        Ok(bytes as usize)
    } else {
        Err(node.error(ErrorKind::OutOfBounds).expected(MEANT).found(node.described()))
    }
}
