//! The page that comes out.

use crate::check::{Criterion, Group};

fn number(x: f64) -> String {
    let size = x.abs();
    if !x.is_finite() {
        "not measured".into()
    } else if x == 0.0 || (1e-3..1e6).contains(&size) {
        let digits = if size >= 100.0 { 2 } else { 5 };
        let text = format!("{x:.digits$}");
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        format!("{x:.2e}")
    }
}

fn criterion(c: Criterion) -> String {
    match c {
        Criterion::AtMost(x) => format!("at most {}", number(x)),
        Criterion::AtLeast(x) => format!("at least {}", number(x)),
        Criterion::Within { reference, tolerance } => {
            format!("{} ± {}", number(reference), number(tolerance))
        }
        Criterion::Between(low, high) => format!("{} to {}", number(low), number(high)),
    }
}

/// The page in Markdown; `pending` names groups that have not run.
pub fn render(groups: &[Group], pending: &[&str]) -> String {
    let all = groups.iter().flat_map(|g| &g.checks);
    let (total, passed) = (all.clone().count(), all.filter(|c| c.passes()).count());
    let mut out = String::from(
        "# Validation\n\nWritten by `cargo run --release -p costate-validation`. Tolerances are \
         set in the code of the checks, before anything is measured.\n\n",
    );
    out += &format!("{passed} of {total} checks pass.\n");
    if !pending.is_empty() {
        out += &format!("\nNot run: {}.\n", pending.join(", "));
    }
    for group in groups {
        out += &format!("\n## {}\n\n{}\n\n", group.title, group.about);
        out += "| check | reference | must be | measured | |\n| --- | --- | --- | --- | --- |\n";
        for check in &group.checks {
            out += &format!(
                "| {} | {} | {} | {} | {} |\n",
                check.what.replace('|', "\\|"),
                check.reference.replace('|', "\\|"),
                criterion(check.criterion),
                number(check.measured),
                if check.passes() { "pass" } else { "**FAIL**" }
            );
        }
    }
    out
}
