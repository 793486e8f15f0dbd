//! Trust: permission for a project's own files to widen.

mod items;

pub(crate) use items::pinned;
pub use items::{TrustItem, TrustKind, TrustStatus};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_types::PermissionMode;

/// Rules that the user approved one by one for a directory of a project, without trusting all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Approved {
    /// Allow rules, in the syntax of settings files.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub allow: BTreeSet<String>,
    /// Directories of the workspace.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub directories: BTreeSet<PathBuf>,
    /// The mode that sessions may begin in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PermissionMode>,
}

/// Items covered by trust in a directory: for each file the digests of its items, by their keys.
pub(crate) type Covered = BTreeMap<PathBuf, BTreeMap<String, String>>;

/// Extent of trust in the widening parts of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Extent {
    #[default]
    None,
    /// The items that the user has reviewed and trusted.
    Items(Arc<Covered>),
    All,
}

/// Trust in the files of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    extent: Extent,
    /// Rules that apply without trust.
    pub approved: Approved,
}

impl Standing {
    /// Returns full trust.
    #[must_use]
    pub fn trusted() -> Self {
        Self { extent: Extent::All, approved: Approved::default() }
    }

    /// Returns no trust: only restrictions apply.
    #[must_use]
    pub fn untrusted() -> Self {
        Self::default()
    }

    /// Returns `true` if the user trusts the directory, even if its items have changed since.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.extent != Extent::None
    }

    /// Returns `true` if one item of a file may apply: all do, or the user has trusted this one. Restrictions of a file
    /// apply in any case.
    #[must_use]
    pub fn covers(&self, file: &Path, kind: TrustKind, name: &str, content: &str) -> bool {
        match &self.extent {
            Extent::None => false,
            Extent::All => true,
            Extent::Items(covered) => {
                let known = covered.get(file).and_then(|items| items.get(&items::key(kind, name)));
                known.is_some_and(|known| *known == items::digest(kind, name, content))
            }
        }
    }

    /// Returns the status of an item: new, changed or already trusted.
    pub(crate) fn status(&self, item: &TrustItem) -> TrustStatus {
        if self.covers(&item.file, item.kind, &item.name, &item.content) {
            return TrustStatus::Trusted;
        }
        match &self.extent {
            Extent::Items(covered) if is_known(covered, item) => TrustStatus::Changed,
            _ => TrustStatus::New,
        }
    }

    /// Returns the condition under which an ignored item takes effect.
    pub(crate) fn condition(&self) -> &'static str {
        match self.extent {
            Extent::None => "without trust in the project",
            _ => "before `windlass trust` confirms what is new or has changed",
        }
    }

    /// Sets the rules that apply without trust.
    #[must_use]
    pub fn approving(mut self, approved: Approved) -> Self {
        self.approved = approved;
        self
    }
}

fn is_known(covered: &Covered, item: &TrustItem) -> bool {
    covered.get(&item.file).is_some_and(|items| items.contains_key(&items::key(item.kind, &item.name)))
}

/// Our own record of trust, a file under the user's home:
/// `{"projects":{"/path":{"trusted":true,"covers":{".mcp.json":{"server build":"<digest>"}},
/// "approved":{"allow":["Bash(npm test *)"]}}}}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TrustRecord {
    /// Records of directories, by their resolved paths.
    pub projects: BTreeMap<PathBuf, ProjectRecord>,
}

/// Record of one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ProjectRecord {
    /// `true` if the user trusts the directory.
    pub trusted: bool,
    /// Items covered by the trust: files by their paths below the directory, with the digests of their items by kind
    /// and name. `None` until the items are pinned; then trust covers nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covers: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// Digests of the files that trusted configuration runs: files below the directory by their paths from it, others
    /// by their whole paths. Records of earlier versions have none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, String>,
    /// Rules approved without trust in the directory.
    pub approved: Approved,
}

/// The file of the other layout: only the fields that are needed.
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

/// All records of trust. What cannot be read grants no trust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trust {
    /// `true` if this run trusts the project, without regard to the records (`--trust`).
    pub for_this_run: bool,
    accepted: BTreeSet<PathBuf>,
    covered: BTreeMap<PathBuf, Covered>,
    programs: BTreeMap<PathBuf, BTreeMap<PathBuf, String>>,
    approved: BTreeMap<PathBuf, Approved>,
}

impl Trust {
    /// Creates an empty trust.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether this run trusts the project.
    #[must_use]
    pub fn for_this_run(mut self, trusts: bool) -> Self {
        self.for_this_run = trusts;
        self
    }

    /// Adds the text of our own record.
    ///
    /// # Errors
    /// The text is not such a record; no trust is added.
    pub fn add_record(&mut self, text: &str) -> Result<(), serde_json::Error> {
        let record: TrustRecord = serde_json::from_str(text)?;
        for (path, known) in record.projects {
            if known.trusted {
                self.accepted.insert(path.clone());
            }
            if let Some(covers) = known.covers {
                let files = covers.into_iter().map(|(file, items)| (path.join(file), items));
                self.covered.entry(path.clone()).or_default().extend(files);
            }
            let programs = known.programs.into_iter().map(|(file, digest)| (path.join(file), digest));
            self.programs.entry(path.clone()).or_default().extend(programs);
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
    /// The text does not have that shape; no trust is added.
    pub fn add_claude_json(&mut self, text: &str) -> Result<(), serde_json::Error> {
        let file: ClaudeJson = serde_json::from_str(text)?;
        let accepted = file.projects.into_iter().filter(|(_, known)| known.has_trust_dialog_accepted == Some(true));
        self.accepted.extend(accepted.map(|(path, _)| path));
        Ok(())
    }

    /// Returns the trust in the files of one directory of a project. `chain` lists the directories of the project from
    /// its root to the start directory: trust in one of them covers those after it, never those before it and no
    /// directory outside.
    #[must_use]
    pub fn standing(&self, chain: &[PathBuf], directory: &Path, named: bool) -> Standing {
        let approved = self.approved.get(directory).cloned().unwrap_or_default();
        if self.for_this_run || named {
            return Standing { extent: Extent::All, approved };
        }
        let above = chain.iter().take_while(|known| directory.starts_with(known));
        let mut trusted = above.filter(|known| self.accepted.contains(*known)).peekable();
        if trusted.peek().is_none() {
            return Standing { extent: Extent::None, approved };
        }
        let mut covered = Covered::new();
        for (file, items) in trusted.filter_map(|known| self.covered.get(known)).flatten() {
            covered.entry(file.clone()).or_default().extend(items.clone());
        }
        Standing { extent: Extent::Items(Arc::new(covered)), approved }
    }

    /// Returns the directory whose record covers the files that the configuration of a project runs: the outermost
    /// trusted one.
    pub(crate) fn program_directory<'a>(&self, chain: &'a [PathBuf]) -> Option<&'a Path> {
        chain.iter().find(|known| self.accepted.contains(*known)).map(PathBuf::as_path)
    }

    /// Digests of the files that trusted configuration of a project runs, as far as they are recorded.
    pub(crate) fn programs(&self, chain: &[PathBuf]) -> BTreeMap<PathBuf, String> {
        let trusted = chain.iter().filter(|known| self.accepted.contains(*known));
        trusted
            .filter_map(|known| self.programs.get(known))
            .flatten()
            .map(|(path, digest)| (path.clone(), digest.clone()))
            .collect()
    }

    /// Returns the trusted directories of a project whose records do not list the covered items.
    pub(crate) fn unpinned<'a>(&self, chain: &'a [PathBuf]) -> impl Iterator<Item = &'a PathBuf> {
        chain.iter().filter(|known| self.accepted.contains(*known) && !self.covered.contains_key(*known))
    }
}

#[cfg(test)]
mod tests;
