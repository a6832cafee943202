//! Correlations of the estimates and the combinations that the data hardly fix.

use crate::data::Correlation;
use maud::{Markup, html};

/// Larger matrices are shown by their strongest pairs.
const MOST: usize = 24;

/// So many pairs are listed.
const PAIRS: usize = 30;

pub(super) fn section(correlation: Option<&Correlation>, weak: &[String]) -> Markup {
    let correlation = correlation.filter(|c| c.names.len() > 1);
    html! {
        @if correlation.is_some() || !weak.is_empty() {
            section {
                h2 { "What the data fix together" }
                @if !weak.is_empty() {
                    h3 { "Weak directions" }
                    ul { @for w in weak { li { (w) } } }
                }
                @if let Some(c) = correlation {
                    h3 { "Correlations of the estimates" }
                    @if c.names.len() <= MOST { (matrix(c)) } @else { (pairs(c)) }
                }
            }
        }
    }
}

fn matrix(c: &Correlation) -> Markup {
    let n = c.names.len();
    html! {
        div.scroll {
            table.matrix {
                tbody {
                    @for i in 0..n {
                        tr {
                            th { code { (c.names[i]) } }
                            @for j in 0..=i { (cell(c.at(i, j))) }
                        }
                    }
                    tr {
                        th {}
                        @for name in &c.names { td.foot { div { code { (name) } } } }
                    }
                }
            }
        }
    }
}

/// Strength by opacity, sign by hue: legible on light and dark alike.
fn cell(r: f64) -> Markup {
    let strength = r.abs().min(1.0);
    let hue = if r < 0.0 { "199, 84, 30" } else { "15, 111, 197" };
    let style = format!("background: rgba({hue}, {:.2})", 0.85 * strength);
    html! {
        @if r.is_nan() {
            td { "–" }
        } @else {
            td.light[strength > 0.7] style=(style) { (format!("{r:.2}").replace('-', "−")) }
        }
    }
}

fn pairs(c: &Correlation) -> Markup {
    let n = c.names.len();
    let mut all: Vec<(usize, usize, f64)> = (0..n)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (i, j, c.at(i, j)))
        .filter(|p| p.2.is_finite())
        .collect();
    all.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    all.truncate(PAIRS);
    html! {
        p.faint { "The strongest of " (n * (n - 1) / 2) " pairs." }
        div.scroll {
            table {
                tbody {
                    @for (i, j, r) in all {
                        tr {
                            td { code { (c.names[j]) } }
                            td { code { (c.names[i]) } }
                            (cell(r))
                        }
                    }
                }
            }
        }
    }
}
