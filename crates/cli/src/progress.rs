//! Progress of a search: a line that renews itself on a terminal, nothing otherwise.

use std::io::IsTerminal;

use costate::identify::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::table::number;

/// Shows how a search goes.
pub struct Show {
    bar: Option<ProgressBar>,
}

impl Show {
    /// Shown only where standard error is a terminal and `quiet` is off.
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let template = "{spinner} {pos}/{len} iterations, {elapsed}, at most {eta} more  {msg}";
            let style = ProgressStyle::with_template(template);
            let bar = ProgressBar::new(0);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        if let Some(bar) = &bar {
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
        }
        Self { bar }
    }

    /// One iteration is done.
    pub fn update(&self, progress: &Progress) {
        const MOST: usize = 3;
        let Some(bar) = &self.bar else { return };
        bar.set_length(progress.max_iterations as u64);
        bar.set_position(progress.iteration as u64);
        let start = progress.start.map_or(String::new(), |s| format!("start {}, ", s + 1));
        let mut values: Vec<String> = progress
            .values
            .iter()
            .take(MOST)
            .map(|(name, value)| format!("{name} {}", number(*value)))
            .collect();
        if progress.values.len() > MOST {
            values.push("…".into());
        }
        bar.set_message(format!("{start}cost {}  {}", number(progress.cost), values.join("  ")));
    }

    /// The search is over.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
