//! An overview and the hits of a search as lines, for models and for people. Control characters are removed from names.

use crate::overview::Overview;
use crate::search::Found;
use std::fmt;
use windlass_types::text::{clean_line, visible_path};

/// Maximum number of shown rows of each table.
const MAX_SHOWN_ROWS: usize = 40;

/// Shows all tables, at most 40 rows of each.
impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let qualifier = if self.is_complete { "" } else { "at least " };
        write!(f, "{qualifier}{} files in {} folders", self.files, self.folders)?;
        let languages = self.languages.iter();
        table(
            f,
            "Languages",
            languages.map(|one| format!("{}: {} files, {} %", one.language, one.files, one.percent)),
        )?;
        let packages = self.packages.iter().map(|package| {
            let uses =
                if package.uses.is_empty() { String::new() } else { format!(", uses {}", package.uses.join(", ")) };
            format!("{} ({}, {}){uses}", package.name, package.kind.as_str(), package.manifest)
        });
        table(f, "Packages", packages)?;
        let commands = self.commands.iter().map(|command| {
            let source = if command.is_stated { "stated in" } else { "usual for" };
            format!("{}: `{}` ({source} {})", command.purpose.as_str(), command.command, command.manifest)
        });
        table(f, "Commands", commands)?;
        table(f, "Frameworks", self.frameworks.iter().map(|one| format!("{} ({})", one.name, one.manifest)))?;
        table(f, "Entry points", self.entry_points.iter().cloned())?;
        table(f, "Important files", self.important.iter().cloned())?;
        table(f, "Ignored", self.ignored.iter().map(|path| format!("{path}/")))
    }
}

fn table(f: &mut fmt::Formatter<'_>, name: &str, rows: impl Iterator<Item = String>) -> fmt::Result {
    let mut rows = rows.peekable();
    if rows.peek().is_some() {
        write!(f, "\n\n{name}")?;
    }
    for row in rows.by_ref().take(MAX_SHOWN_ROWS) {
        write!(f, "\n- {}", clean_line(&row))?;
    }
    match rows.count() {
        0 => Ok(()),
        more => write!(f, "\n- and {more} more"),
    }
}

/// Shows a line for each matching symbol, `path:line name`, and for each file of which only the path matches.
impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for hit in &self.hits {
            let path = visible_path(&hit.path);
            if hit.symbols.is_empty() {
                write!(f, "{separator}{path}")?;
                separator = "\n";
            }
            for symbol in &hit.symbols {
                write!(f, "{separator}{path}:{} {}", symbol.line, symbol.name)?;
                separator = "\n";
            }
        }
        Ok(())
    }
}
