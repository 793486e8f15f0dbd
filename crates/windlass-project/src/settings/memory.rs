//! The keys of memory, and of instructions.

use serde::Deserialize;
use std::path::PathBuf;

/// The keys `autoMemoryEnabled`, `autoMemoryDirectory`, `autoMemoryExtraction`, `autoMemoryRankingModel` and
/// `claudeMdExcludes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct MemorySettings {
    /// `true` if sessions have a memory; `None` if the file does not set it.
    #[serde(default, rename = "autoMemoryEnabled")]
    pub enabled: Option<bool>,
    /// The directory of the memory, as it is written, if the file names one.
    #[serde(default, rename = "autoMemoryDirectory")]
    pub directory: Option<PathBuf>,
    /// `true` if an agent notes after a run the facts worth remembering; `None` if the file does not set it.
    #[serde(default, rename = "autoMemoryExtraction")]
    pub extraction: Option<bool>,
    /// The model that finds the notes that fit a prompt, if the file names one.
    #[serde(default, rename = "autoMemoryRankingModel")]
    pub ranking_model: Option<String>,
    /// Patterns of instruction files that are not to be read. `None` is as good as an empty list.
    #[serde(default, rename = "claudeMdExcludes")]
    pub instruction_excludes: Option<Vec<String>>,
}
