//! Storage of a session and its files.

use crate::disk::DiskCheckpoints;
use crate::error::Error;
use crate::home::Home;
use crate::local::OutputLimits;
use crate::machine::Surroundings;
use crate::stored_files;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::Masks;
use windlass_permission::Policy;
use windlass_session::{Checkpoints, LogHeader, MaskText, MaskedStore, SessionKey, SessionStore};
use windlass_tool::Ids;
use windlass_types::path::absolute;
use windlass_types::{Behavior, RuleSource};

/// Storage options of sessions.
#[derive(Clone, Default)]
pub(crate) struct Storage {
    pub(crate) home: Option<Home>,
    /// Session store of the embedding program. It replaces the files in the home.
    pub(crate) store: Option<Arc<dyn SessionStore>>,
    /// Masks that hide secrets in every text written to the store.
    pub(crate) masks: Option<Masks>,
    /// Options of the checkpoints that are stored beside the log.
    pub(crate) disk_checkpoints: DiskCheckpoints,
    /// Disk space for the outputs of programs.
    pub(crate) output_limits: OutputLimits,
    /// Checkpoint store of the embedding program, used instead of the checkpoints beside the log.
    pub(crate) checkpoints: Option<Arc<dyn Checkpoints>>,
    /// Name under which the program appears in the log. `None`: `sdk-rust`.
    pub(crate) entrypoint: Option<String>,
}

impl Storage {
    pub(crate) fn store(&self) -> Option<Arc<dyn SessionStore>> {
        let store = self.unmasked_store()?;
        let Some(masks) = self.masks.clone() else { return Some(store) };
        let mask: MaskText = Arc::new(move |text| match masks.mask(text) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(masked) => Cow::Owned(masked),
        });
        Some(Arc::new(MaskedStore::new(store, mask)))
    }

    fn unmasked_store(&self) -> Option<Arc<dyn SessionStore>> {
        match &self.store {
            Some(store) => Some(Arc::clone(store)),
            None => stored_files::store(self.home.as_ref()?),
        }
    }

    /// Returns the home if sessions are stored in it as files.
    pub(crate) fn home_of_files(&self) -> Option<&Home> {
        self.home.as_ref().filter(|_| self.store.is_none())
    }

    /// Refuses a relative home, whose place would depend on the start directory, and a home of a later format.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.home.as_ref().map_or(Ok(()), |home| {
            stored_files::check(home)?;
            home.check_format()
        })
    }

    /// Name of the program in the log.
    pub(crate) fn entrypoint(&self) -> String {
        self.entrypoint.clone().unwrap_or_else(|| "sdk-rust".to_owned())
    }

    /// Fields common to all lines of the log.
    pub(crate) fn header(&self, cwd: &Path, surroundings: &Surroundings) -> LogHeader {
        let branch = (!surroundings.is_elsewhere()).then(|| stored_files::git_branch(cwd)).flatten();
        LogHeader::new(cwd.to_string_lossy(), env!("CARGO_PKG_VERSION"), self.entrypoint()).with_git_branch(branch)
    }
}

/// Folder for tool results that are too large for the model. Exactly one of the two fields is set.
pub(crate) struct LargeResults {
    /// Folder in the session's directory.
    pub(crate) kept: Option<PathBuf>,
    /// Temporary folder, if the session is not stored.
    pub(crate) scratch: Option<PathBuf>,
}

impl LargeResults {
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn of(storage: &Storage, key: &SessionKey, cwd: &Path, ids: &dyn Ids) -> Self {
        let kept = |home: &Home| home.session_directory(&key.project, &key.session).join("tool-results");
        let kept = storage.home.as_ref().map(kept);
        let scratch = absolute(cwd, &std::env::temp_dir()).join(format!("windlass-{:032x}", ids.bits()));
        Self { scratch: kept.is_none().then_some(scratch), kept }
    }

    /// Folders that the model may read back from.
    pub(crate) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.kept.iter().chain(&self.scratch).cloned()
    }

    /// Lets the model read back the results stored for it.
    pub(crate) fn allow_reading(&self, policy: &mut Policy, cwd: &Path) {
        for directory in self.kept.iter().chain(&self.scratch) {
            allow_reading_below(policy, directory, cwd);
        }
    }
}

/// Lets calls read below a directory without a permission request.
pub(crate) fn allow_reading_below(policy: &mut Policy, directory: &Path, cwd: &Path) {
    // These characters are wildcards in a rule, so such a path gets no rule, and reads below it need permission.
    let Some(path) = directory.to_str().filter(|path| !path.contains(['*', '?', '[', '{', '!', '\\'])) else { return };
    let _ = policy.add_rules(RuleSource::Session, Behavior::Allow, &[format!("Read(/{path}/**)")], cwd);
}
