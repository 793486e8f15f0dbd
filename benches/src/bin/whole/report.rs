//! The table of results.

/// The rows so far.
#[derive(Default)]
pub struct Report {
    rows: Vec<String>,
    notes: Vec<String>,
}

impl Report {
    /// Adds a row. A floor of `None` was not measured.
    pub fn row(&mut self, name: &str, unit: &str, target: &str, floor: Option<f64>, ours: f64) {
        let number = |value: f64| if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
        let (shown, ratio) = match floor {
            Some(floor) => (format!("{} {unit}", number(floor)), format!("{:.1}", ours / floor)),
            None => ("–".to_owned(), "–".to_owned()),
        };
        let row = format!("| {name} | {target} | {shown} | {} {unit} | {ratio} |", number(ours));
        eprintln!("{row}");
        self.rows.push(row);
    }

    /// Adds a note that says why a row is missing.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Writes everything to standard output.
    pub fn print(&self) {
        println!("| row | target | floor | windlass | ratio |\n|---|---|---|---|---|");
        for row in &self.rows {
            println!("{row}");
        }
        for note in &self.notes {
            println!("\n{note}");
        }
    }
}
