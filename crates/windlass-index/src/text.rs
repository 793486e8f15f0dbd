//! Overview for a model, within a budget.

use crate::overview::Overview;
use std::fmt::Write as _;
use windlass_context::{FileInstructions, estimate_text};
use windlass_types::text::clean_line;

/// Maximum number of tokens of the text, with its frame.
const MAX_TOKENS: u64 = 300;

impl Overview {
    /// Text for the model after the first prompt: at most 300 tokens, estimated high. Text that looks like runtime text
    /// is marked. `None` for a project with nothing to report but a count.
    #[must_use]
    pub fn for_model(&self) -> Option<FileInstructions> {
        let mut lines = self.lines();
        if lines.is_empty() {
            return None;
        }
        if self.files > 0 {
            let qualifier = if self.is_complete { "" } else { "at least " };
            let (files, folders) = (counted(self.files, "file"), counted(self.folders, "folder"));
            lines.insert(0, format!("{qualifier}{files} in {folders}"));
        }
        loop {
            let text = FileInstructions::index(&lines.join("\n"))?;
            if estimate_text(&text.text) <= MAX_TOKENS {
                return Some(text);
            }
            lines.pop()?;
        }
    }

    /// Lines, each within its own share.
    fn lines(&self) -> Vec<String> {
        let percent = |share: &crate::LanguageShare| format!("{} {} %", share.language, share.percent.max(1));
        let purposes = self.commands.iter().filter(|command| !command.manifest.contains('/') || command.is_stated);
        let command = |command: &crate::ProjectCommand| {
            let folder = command.manifest.rsplit_once('/').map(|(folder, _)| format!(" (in {folder})"));
            format!("{} `{}`{}", command.purpose.as_str(), command.command, folder.unwrap_or_default())
        };
        let package = |package: &crate::Package| format!("{} ({})", package.name, package.kind.as_str());
        [
            line("Languages", 80, self.languages.iter().map(percent)),
            line("Commands", 150, purposes.map(command)),
            line("Packages", 120, self.packages.iter().map(package)),
            line("Entry points", 85, self.entry_points.iter().cloned()),
            line("Important files", 95, self.important.iter().cloned()),
            line("Frameworks", 60, self.frameworks.iter().map(|framework| framework.name.clone())),
            line("Ignored", 50, self.ignored.iter().map(|path| format!("{path}/"))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A line with as many items as fit into `max_bytes` bytes, and the number of the others. `None` if none fits.
fn line(name: &str, max_bytes: usize, items: impl Iterator<Item = String>) -> Option<String> {
    let mut text = format!("{name}: ");
    let (mut is_first, mut omitted) = (true, 0_usize);
    for item in items {
        let item = clean_line(&item);
        let separator = if is_first { "" } else { ", " };
        if omitted == 0 && text.len().saturating_add(separator.len()).saturating_add(item.len()) <= max_bytes {
            text.push_str(separator);
            text.push_str(&item);
            is_first = false;
        } else {
            omitted = omitted.saturating_add(1);
        }
    }
    if omitted > 0 && !is_first {
        // Writing to a text cannot fail.
        let _ = write!(text, " and {omitted} more");
    }
    (!is_first).then_some(text)
}

#[cfg(test)]
mod tests;
