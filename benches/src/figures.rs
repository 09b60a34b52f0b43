//! What a run measured, beside what was aimed at: as a table, or as JSON for a machine to compare.

use serde::Serialize;

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// What was measured.
    pub what: String,
    /// How much it is.
    pub figure: f64,
    /// The unit.
    pub unit: &'static str,
    /// At most so much is aimed at; nothing where the figure only stands beside others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// At least so much is aimed at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
}

/// The figures of a run, in order.
#[derive(Debug, Default)]
pub struct Figures(Vec<Figure>);

impl Figures {
    /// Adds a figure that nothing is aimed at for.
    pub fn add(&mut self, what: &str, figure: f64, unit: &'static str) {
        self.0.push(Figure { what: what.to_owned(), figure, unit, at_most: None, at_least: None });
    }

    /// Adds a figure that should be at most so much.
    pub fn at_most(&mut self, what: &str, figure: f64, unit: &'static str, most: f64) {
        self.0.push(Figure { what: what.to_owned(), figure, unit, at_most: Some(most), at_least: None });
    }

    /// Adds a figure that should be at least so much.
    pub fn at_least(&mut self, what: &str, figure: f64, unit: &'static str, least: f64) {
        self.0.push(Figure { what: what.to_owned(), figure, unit, at_most: None, at_least: Some(least) });
    }

    /// Prints them.
    ///
    /// # Errors
    /// When they can't become JSON, which does not happen.
    pub fn print(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            println!("{}", serde_json::to_string_pretty(&self.0)?);
            return Ok(());
        }
        println!("{:<64} {:>12} {:<10} {:>12}", "what", "measured", "", "target");
        for Figure { what, figure, unit, at_most, at_least } in &self.0 {
            let target = match (at_most, at_least) {
                (Some(most), _) => format!("≤ {most}"),
                (_, Some(least)) => format!("≥ {least}"),
                _ => String::new(),
            };
            println!("{what:<64} {figure:>12.3} {unit:<10} {target:>12}");
        }
        Ok(())
    }
}

/// The value below which `percent` of a hundred lie.
#[must_use]
pub fn at(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values
        .get((values.len() * percent / 100).min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

/// The bytes of memory that the process has in use, where the system tells.
#[must_use]
pub fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1_024.0)
}

/// The processor time that this thread has had, in milliseconds, where the system tells.
#[must_use]
pub fn thread_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).map_or(f64::NAN, |ns| ns / 1e6)
}
