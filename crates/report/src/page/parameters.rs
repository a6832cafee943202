//! The table of parameters and their intervals.

use super::figure;
use crate::data::Parameter;
use crate::number::{percent, significant, with_error};
use crate::plot::Interval;
use crate::{Error, plot};
use maud::{Markup, html};

/// Beyond this many, the plot of intervals would be taller than a screen.
const MOST_ROWS: usize = 40;

pub(super) fn section(parameters: &[Parameter]) -> Result<Markup, Error> {
    if parameters.is_empty() {
        return Ok(html! {});
    }
    let rows: Vec<Interval> = parameters.iter().filter_map(interval).take(MOST_ROWS).collect();
    let svg = plot::intervals(&rows, 760)?;
    Ok(html! {
        section {
            h2 { "Parameters" }
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "parameter" } th.number { "start" } th.number { "estimate" }
                            th.number { "std. error" } th.number { "95 % interval" }
                            th { "unit" } th { "transform" } th {}
                        }
                    }
                    tbody { @for p in parameters { (row(p)) } }
                }
            }
            @if svg.is_some() {
                (figure(svg))
                p.legend {
                    span.key.fitted { "estimate and 95 % interval" }
                    span.key.initial { "start (where within reach)" }
                }
            }
        }
    })
}

fn row(p: &Parameter) -> Markup {
    let error = p.std_error;
    let relative = error.map(|e| (e / p.estimate).abs()).filter(|r| r.is_finite());
    let uncertain = p.ci95.is_some_and(|[a, b]| {
        let width = b - a;
        width.is_nan() || width > p.estimate.abs()
    });
    html! {
        tr {
            td { code { (p.path) } }
            td.number { (significant(p.initial, 4)) }
            td.number.strong { (with_error(p.estimate, error)) }
            td.number {
                @if let Some(e) = error { (significant(e, 2)) } @else { "–" }
                @if let Some(r) = relative { span.faint { " (" (percent(r)) ")" } }
            }
            td.number {
                @if let Some([a, b]) = p.ci95 {
                    (with_error(a, error)) " … " (with_error(b, error))
                    @if uncertain {
                        " " span.pill.bad title="wider than the value itself" { "wide" }
                    }
                } @else { "–" }
            }
            td { (p.unit) }
            td { (p.transform) }
            td.faint { (p.note) }
        }
    }
}

/// Relative to the estimate in percent; none for an estimate or interval that has no such.
fn interval(p: &Parameter) -> Option<Interval> {
    let relative = |v: f64| 100.0 * (v - p.estimate) / p.estimate.abs();
    let ci = p.ci95?.map(relative);
    ci.iter().all(|v| v.is_finite()).then(|| {
        let long = p.path.chars().count();
        let name = if long > 44 {
            let tail: String = p.path.chars().skip(long - 43).collect();
            format!("…{tail}")
        } else {
            p.path.clone()
        };
        Interval { name, ci, start: relative(p.initial) }
    })
}
