//! Instruction files that settings leave out.

use crate::resolved::{Resolved, Setting};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::Path;
use windlass_context::InstructionSource;

/// Maximum number of patterns in effect.
const MAX_PATTERNS: usize = 256;

/// The patterns of `claudeMdExcludes`, from settings of any layer.
///
/// A pattern is compared with the whole path of a file, as it is written and as it resolves; `~/` is the user's home,
/// and `*` does not go beyond a folder. Files of the administrator are always read. A pattern in a file of the project
/// leaves out files of the project only: a repository does not silence the user.
#[derive(Debug, Clone, Default)]
pub struct InstructionExcludes {
    /// For all files but those of the administrator.
    of_user: GlobSet,
    /// For files of the project.
    of_project: GlobSet,
}

impl InstructionExcludes {
    /// Builds the excludes of resolved settings, and returns the patterns that cannot be used, with the reason.
    #[must_use]
    pub fn new(resolved: &Resolved, home: Option<&Path>) -> (Self, Vec<String>) {
        let mut unusable = Vec::new();
        let mut sets = [GlobSetBuilder::new(), GlobSetBuilder::new()];
        for Setting { value, layer, .. } in resolved.memory.instruction_excludes.iter().take(MAX_PATTERNS) {
            let [of_user, of_project] = &mut sets;
            let set = if layer.lies_in_project() { of_project } else { of_user };
            let pattern = match (value.strip_prefix("~/"), home.and_then(Path::to_str)) {
                (Some(below), Some(home)) => format!("{}/{below}", globset::escape(home.trim_end_matches('/'))),
                _ => value.clone(),
            };
            match GlobBuilder::new(&pattern).literal_separator(true).build() {
                Ok(glob) => drop(set.add(glob)),
                Err(error) => {
                    unusable.push(format!("the pattern {value:?} of `claudeMdExcludes` cannot be used: {error}"))
                }
            }
        }
        if resolved.memory.instruction_excludes.len() > MAX_PATTERNS {
            unusable.push(format!("`claudeMdExcludes` has more than {MAX_PATTERNS} patterns; the rest is left out"));
        }
        let [of_user, of_project] = sets.map(|set| set.build().unwrap_or_default());
        (Self { of_user, of_project }, unusable)
    }

    /// Returns `true` if a file is excluded.
    pub(super) fn cover(&self, source: InstructionSource, path: &Path) -> bool {
        let is_of_project = matches!(source, InstructionSource::Project | InstructionSource::Local);
        (source != InstructionSource::Managed && self.of_user.is_match(path))
            || (is_of_project && self.of_project.is_match(path))
    }
}
