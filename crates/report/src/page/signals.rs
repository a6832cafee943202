//! Measured signals beside the model's: a table of scores, then plots.

use super::figure;
use crate::data::{Signal, autocorrelation, residuals};
use crate::number::{percent, significant};
use crate::plot::Comparison;
use crate::{Error, plot};
use maud::{Markup, html};

/// So many groups of signals are open when the page is; the rest opens on a click.
const OPEN: usize = 6;

/// Lags of the autocorrelation.
const LAGS: usize = 30;

pub(super) fn section(signals: &[Signal]) -> Result<Markup, Error> {
    if signals.is_empty() {
        return Ok(html! {});
    }
    let groups = by_name(signals);
    let mut shown = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        let mut cards = Vec::new();
        for signal in group {
            cards.push(card(signal)?);
        }
        let name = &group[0].name;
        shown.push(html! {
            details open[i < OPEN] {
                summary { code { (name) } }
                div.cards { @for card in &cards { (card) } }
            }
        });
    }
    let any_start = signals.iter().any(|s| s.initial_guess.is_some());
    Ok(html! {
        section {
            h2 { "Signals" }
            (scores(&groups))
            p.legend {
                span.key.measured { "measured" }
                span.key.fitted { "model with the estimates" }
                @if any_start { span.key.initial { "model at the start" } }
                span.key.residual { "residual: measured − model" }
                span.key.noise { "what noise alone gives: ± 2σ, 95 % band of white noise" }
            }
            @for group in &shown { (group) }
        }
    })
}

/// Signals of the same name together, in order of first appearance; fitted recordings first.
fn by_name(signals: &[Signal]) -> Vec<Vec<&Signal>> {
    let mut groups: Vec<Vec<&Signal>> = Vec::new();
    for signal in signals {
        match groups.iter_mut().find(|g| g[0].name == signal.name) {
            Some(group) => group.push(signal),
            None => groups.push(vec![signal]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|s| s.validation);
    }
    groups
}

fn scores(groups: &[Vec<&Signal>]) -> Markup {
    let value = |v: Option<f64>| v.map_or("–".to_string(), |v| significant(v, 3));
    html! {
        div.scroll {
            table {
                thead {
                    tr {
                        th { "signal" } th { "recording" } th.number { "samples" }
                        th.number { "residual rms" } th.number title="residual rms relative to the signal's own" { "of signal" }
                        th.number title="the model with the initial parameters" { "rms at start" }
                        th.number title="a model that does nothing" { "do-nothing rms" }
                        th.number { "lag-1" } th.number { "σ" } th { "unit" }
                    }
                }
                tbody {
                    @for s in groups.iter().flatten() {
                        tr {
                            td { code { (s.name) } }
                            td { (recording(s)) }
                            td.number { (s.stats.count) }
                            td.number.strong { (significant(s.stats.rms, 3)) }
                            td.number { @match s.stats.relative() {
                                Some(r) => (percent(r)), None => "–"
                            } }
                            td.number { (value(s.stats.initial_rms)) }
                            td.number { (value(s.stats.do_nothing_rms)) }
                            td.number { @match s.stats.lag1 {
                                Some(r) => (format!("{r:.2}").replace('-', "−")), None => "–"
                            } }
                            td.number {
                                (value(s.stats.sigma))
                                @if s.stats.sigma_estimated { span.faint { " est." } }
                            }
                            td { (s.unit) }
                        }
                    }
                }
            }
        }
    }
}

fn recording(s: &Signal) -> Markup {
    html! {
        (s.recording) " "
        @if s.validation { span.pill.good title="never fitted" { "validation" } }
    }
}

fn card(s: &Signal) -> Result<Markup, Error> {
    let main = plot::comparison(
        &Comparison {
            name: &s.name,
            unit: &s.unit,
            t: &s.t,
            measured: &s.measured,
            fitted: &s.fitted,
            initial: s.initial_guess.as_deref(),
        },
        [520, 230],
    )?;
    let residuals = residuals(&s.measured, &s.fitted);
    let over_time = plot::residual(&s.unit, &s.t, &residuals, s.stats.sigma, [520, 150])?;
    let lags = autocorrelation(&residuals, LAGS);
    let pattern = plot::autocorrelation(&lags, s.stats.count, [520, 140])?;
    let empty = main.is_none();
    Ok(html! {
        article.card {
            h3 {
                (recording(s)) " "
                span.faint {
                    "rms " (significant(s.stats.rms, 3)) " " (s.unit)
                    @if let Some(r) = s.stats.relative() { ", " (percent(r)) " of the signal" }
                }
            }
            @if empty { p.faint { "No sample has a value." } }
            (figure(main)) (figure(over_time)) (figure(pattern))
        }
    })
}
