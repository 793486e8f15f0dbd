//! Instructions that apply once a matching file is used.

use super::places::of_folder;
use super::{Instruction, InstructionFiles};
use std::path::PathBuf;
use windlass_tool::EntryKind;

/// Maximum number of folders read, and maximum depth.
const MAX_FOLDERS: usize = 4_096;
const MAX_DEPTH: u8 = 16;
/// Maximum number of names of a folder.
const MAX_NAMES: usize = 4_096;
/// Names that show that a folder may have instructions of its own.
const INSTRUCTION_NAMES: [&str; 5] = ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", ".claude", ".windlass"];
/// Folders that programs generate, with third-party files.
const GENERATED_FOLDERS: [&str; 5] = ["node_modules", "target", "dist", "build", "vendor"];

/// Instructions that the model reads once a matching file is used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingInstruction {
    /// Instruction that would be read.
    pub instruction: Instruction,
    /// Directory of the files that the instructions apply to.
    pub folder: PathBuf,
    /// The patterns of these files, which begin there. Empty: they are for all files below it.
    pub patterns: Vec<String>,
}

impl InstructionFiles {
    /// Returns the waiting instructions, after those of the session's start are [loaded](Self::load): rules for some
    /// files, and the files of folders below the start, without folders made by programs (`node_modules`, `target` and
    /// the like) or with names that begin with a dot. At most 4,096 folders are read.
    ///
    /// For people who want to list the instructions: those returned here are treated as read.
    pub async fn into_waiting(mut self) -> Vec<WaitingInstruction> {
        let mut all: Vec<WaitingInstruction> = Vec::new();
        let Some(layout) = self.layout.take() else { return all };
        for folder in self.folders_with_instructions().await {
            let candidates = of_folder(&folder, layout.root(), self.sources, &self.files).await;
            let found = self.read(candidates).await;
            let of_folder =
                |instruction| WaitingInstruction { instruction, folder: folder.clone(), patterns: Vec::new() };
            all.extend(found.into_iter().map(of_folder));
        }
        let rules = std::mem::take(&mut self.waiting).into_iter();
        all.extend(rules.map(|rule| WaitingInstruction {
            instruction: rule.instruction,
            folder: rule.base,
            patterns: rule.written,
        }));
        all
    }

    /// Returns the folders below the start that may have instructions of their own, the upper ones first.
    async fn folders_with_instructions(&self) -> Vec<PathBuf> {
        let (mut found, mut remaining) = (Vec::new(), MAX_FOLDERS);
        let mut pending = vec![(self.places.start().to_path_buf(), MAX_DEPTH)];
        while let Some((folder, depth)) = pending.pop() {
            let entries = self.files.workspace.entries(&folder, MAX_NAMES).await.unwrap_or_default();
            let named: Vec<(&str, EntryKind)> =
                entries.iter().filter_map(|entry| Some((entry.name.to_str()?, entry.kind))).collect();
            let is_walked = |name: &str| depth > 0 && !name.starts_with('.') && !GENERATED_FOLDERS.contains(&name);
            let inner = named.iter().filter(|(name, kind)| *kind == EntryKind::Directory && is_walked(name));
            let mut inner: Vec<PathBuf> = inner.map(|(name, _)| folder.join(name)).collect();
            if folder != self.places.start() && named.iter().any(|(name, _)| INSTRUCTION_NAMES.contains(name)) {
                found.push(folder);
            }
            inner.sort_by(|a, b| b.cmp(a));
            inner.truncate(remaining);
            remaining = remaining.saturating_sub(inner.len());
            pending.extend(inner.into_iter().map(|folder| (folder, depth.saturating_sub(1))));
        }
        found
    }
}
