//! The page.

mod correlation;
mod parameters;
mod signals;

use crate::data::{Motion, Provenance, ReportData};
use crate::number::{duration, significant};
use crate::{Error, plot};
use base64::Engine as _;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

const STYLE: &str = include_str!("style.css");

/// The report as an HTML page that stands alone.
///
/// # Errors
/// [`Error::Plot`] where the plotting library refuses; values that are missing, not finite or
/// huge are no reason.
pub fn html(data: &ReportData) -> Result<String, Error> {
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (data.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (header(data))
                    (notices(data))
                    (parameters::section(&data.parameters)?)
                    (motion(data.motion.as_ref()))
                    (signals::section(&data.signals)?)
                    (convergence(&data.cost)?)
                    (correlation::section(data.correlation.as_ref(), &data.weak_directions))
                    (provenance(&data.provenance))
                }
            }
        }
    };
    Ok(page.into_string())
}

/// Inline SVG from the plotting library, which escapes the text in it.
fn figure(svg: Option<String>) -> Markup {
    markup! { @if let Some(svg) = svg { div.plot { (PreEscaped(svg)) } } }
}

fn header(data: &ReportData) -> Markup {
    let fitted = data.signals.iter().filter(|s| !s.validation);
    let samples: usize = fitted.map(|s| s.stats.count).sum();
    let tile = |name: &str, value: String| {
        markup! { div.tile { span.value { (value) } span.name { (name) } } }
    };
    markup! {
        header {
            h1 { (data.title) }
            @if let Some(outcome) = &data.outcome {
                span.pill.good[outcome.converged].bad[!outcome.converged] { (outcome.text) }
            }
            @if !data.summary.is_empty() { p.summary { (data.summary) } }
            div.tiles {
                @if !data.parameters.is_empty() {
                    (tile("parameters", data.parameters.len().to_string()))
                }
                @if samples > 0 { (tile("fitted samples", samples.to_string())) }
                @if let Some(n) = data.provenance.iterations {
                    (tile("iterations", n.to_string()))
                }
                @if let Some(cost) = data.final_cost {
                    (tile("final cost", significant(cost, 4)))
                }
                @if let Some(s) = data.provenance.wall_s { (tile("wall time", duration(s))) }
            }
        }
    }
}

fn notices(data: &ReportData) -> Markup {
    markup! {
        @if !data.not_identifiable.is_empty() {
            section.notice.bad {
                h2 { "The data cannot show" }
                ul {
                    @for n in &data.not_identifiable {
                        li { code { (n.what) } " — " (n.reason) }
                    }
                }
            }
        }
        @if !data.warnings.is_empty() {
            section.notice {
                h2 { "Warnings" }
                ul { @for w in &data.warnings { li { (w) } } }
            }
        }
    }
}

fn motion(motion: Option<&Motion>) -> Markup {
    markup! {
        @if let Some(m) = motion {
            section {
                h2 { "Motion" }
                figure.motion {
                    img alt="animation of the motion" src={
                        "data:image/gif;base64,"
                        (base64::engine::general_purpose::STANDARD.encode(&m.gif))
                    };
                    @if !m.caption.is_empty() { figcaption { (m.caption) } }
                }
            }
        }
    }
}

fn convergence(cost: &[Vec<f64>]) -> Result<Markup, Error> {
    let svg = plot::cost(cost, [640, 240])?;
    Ok(markup! {
        @if svg.is_some() {
            section {
                h2 { "Cost by iteration" }
                div.half { (figure(svg)) }
            }
        }
    })
}

fn provenance(p: &Provenance) -> Markup {
    let mut rows: Vec<(&str, String)> = Vec::new();
    if !p.program.is_empty() {
        rows.push(("program", p.program.clone()));
    }
    rows.extend(p.files.iter().map(|(role, path)| (role.as_str(), path.clone())));
    if let Some(s) = p.wall_s {
        rows.push(("wall time", duration(s)));
    }
    rows.extend(p.facts.iter().map(|(name, value)| (name.as_str(), value.clone())));
    markup! {
        @if !rows.is_empty() {
            footer {
                h2 { "Provenance" }
                dl { @for (name, value) in rows { dt { (name) } dd { (value) } } }
            }
        }
    }
}
