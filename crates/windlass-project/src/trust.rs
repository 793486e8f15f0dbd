//! Whether a project's own files may widen what can happen.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use windlass_types::PermissionMode;

/// What the user approved for one directory of a project, rule by rule, without trusting all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Approved {
    /// Allow rules, as settings files hold them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub allow: BTreeSet<String>,
    /// Directories of the workspace.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub directories: BTreeSet<PathBuf>,
    /// The mode that sessions may begin in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PermissionMode>,
}

/// How far a settings file counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// Whether what it widens counts. What it forbids counts in any case.
    pub trusted: bool,
    /// What counts without trust.
    pub approved: Approved,
}

impl Standing {
    /// It counts in full.
    #[must_use]
    pub fn trusted() -> Self {
        Self { trusted: true, approved: Approved::default() }
    }

    /// Only what it forbids counts.
    #[must_use]
    pub fn untrusted() -> Self {
        Self::default()
    }

    /// This much counts without trust.
    #[must_use]
    pub fn approving(mut self, approved: Approved) -> Self {
        self.approved = approved;
        self
    }
}

/// Our own record of trust, a file under the user's home:
/// `{"projects":{"/path":{"trusted":true,"approved":{"allow":["Bash(npm test *)"]}}}}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TrustRecord {
    /// What is known of directories, by their resolved paths.
    pub projects: BTreeMap<PathBuf, ProjectRecord>,
}

/// What is known of one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ProjectRecord {
    /// Whether the user trusts it.
    pub trusted: bool,
    /// What the user approved without trusting it.
    pub approved: Approved,
}

/// The file of the other layout: only what is asked of it.
#[derive(Deserialize)]
struct ClaudeJson {
    #[serde(default)]
    projects: BTreeMap<PathBuf, ClaudeProject>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeProject {
    #[serde(default)]
    has_trust_dialog_accepted: Option<bool>,
}

/// All that is known of trust. What cannot be read grants nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trust {
    /// Whether this run trusts the project, whatever the records say (`--trust`).
    pub for_this_run: bool,
    accepted: BTreeSet<PathBuf>,
    approved: BTreeMap<PathBuf, Approved>,
}

impl Trust {
    /// Trust in nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says whether this run trusts the project.
    #[must_use]
    pub fn for_this_run(mut self, trusts: bool) -> Self {
        self.for_this_run = trusts;
        self
    }

    /// Adds the text of our own record.
    ///
    /// # Errors
    /// The text is not such a record; nothing is added.
    pub fn add_record(&mut self, text: &str) -> Result<(), serde_json::Error> {
        let record: TrustRecord = serde_json::from_str(text)?;
        for (path, known) in record.projects {
            if known.trusted {
                self.accepted.insert(path.clone());
            }
            let approved = self.approved.entry(path).or_default();
            approved.allow.extend(known.approved.allow);
            approved.directories.extend(known.approved.directories);
            approved.mode = approved.mode.or(known.approved.mode);
        }
        Ok(())
    }

    /// Adds the text of a `.claude.json`: its `projects[<path>].hasTrustDialogAccepted`.
    ///
    /// # Errors
    /// The text does not have that shape; nothing is added.
    pub fn add_claude_json(&mut self, text: &str) -> Result<(), serde_json::Error> {
        let file: ClaudeJson = serde_json::from_str(text)?;
        let accepted = file.projects.into_iter().filter(|(_, known)| known.has_trust_dialog_accepted == Some(true));
        self.accepted.extend(accepted.map(|(path, _)| path));
        Ok(())
    }

    /// How far the files of one directory of a project count. `chain` holds the directories of the project from
    /// its root to where the session starts: trust in one of them covers those after it, never those before it
    /// and nothing outside.
    #[must_use]
    pub fn standing(&self, chain: &[PathBuf], directory: &Path, named: bool) -> Standing {
        let above = chain.iter().take_while(|known| directory.starts_with(known));
        let trusted = self.for_this_run || named || above.into_iter().any(|known| self.accepted.contains(known));
        Standing { trusted, approved: self.approved.get(directory).cloned().unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests;
