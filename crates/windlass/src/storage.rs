//! Storage of a session and its files.

use crate::error::Error;
use crate::home::Home;
use crate::machine::Surroundings;
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
    /// Store of the program, used instead of the home.
    pub(crate) store: Option<Arc<dyn SessionStore>>,
    /// Masks for texts that are written.
    pub(crate) masks: Option<Masks>,
    #[cfg(all(feature = "store", feature = "tools"))]
    pub(crate) file_checkpoints: bool,
    #[cfg(all(feature = "store", feature = "tools"))]
    pub(crate) checkpoint_limits: windlass_store::CheckpointLimits,
    /// Disk space for the outputs of programs.
    #[cfg(feature = "tools")]
    pub(crate) output_limits: windlass_local::KeptLimits,
    /// Checkpoints of the program, used instead of those beside the log.
    pub(crate) checkpoints: Option<Arc<dyn Checkpoints>>,
    /// Name of the program in the log, if set.
    pub(crate) entrypoint: Option<String>,
}

impl Storage {
    pub(crate) fn store(&self) -> Option<Arc<dyn SessionStore>> {
        let store = self.exact_store()?;
        let Some(masks) = self.masks.clone() else { return Some(store) };
        let mask: MaskText = Arc::new(move |text| match masks.mask(text) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(masked) => Cow::Owned(masked),
        });
        Some(Arc::new(MaskedStore::new(store, mask)))
    }

    fn exact_store(&self) -> Option<Arc<dyn SessionStore>> {
        if let Some(store) = &self.store {
            return Some(Arc::clone(store));
        }
        #[cfg(feature = "store")]
        if let Some(files) = self.files() {
            return Some(Arc::new(files));
        }
        None
    }

    /// Store of the home's files, if sessions are stored there.
    #[cfg(feature = "store")]
    pub(crate) fn files(&self) -> Option<windlass_store::JsonlStore> {
        self.home_of_files().map(Home::store)
    }

    /// Home, if sessions are stored there as files.
    #[cfg(feature = "store")]
    pub(crate) fn home_of_files(&self) -> Option<&Home> {
        self.home.as_ref().filter(|_| self.store.is_none())
    }

    /// Refuses a relative home, because sessions would be wherever the program happens to start, and one of a later format.
    pub(crate) fn check(&self) -> Result<(), Error> {
        #[cfg(feature = "store")]
        if let Some(home) = self.home.as_ref().filter(|home| !home.root().is_absolute()) {
            let problem = "it is relative: give an absolute path, or one below `std::env::current_dir()?`".to_owned();
            return Err(Error::Directory { role: "the home", path: home.root().to_path_buf(), problem });
        }
        self.home.as_ref().map_or(Ok(()), Home::check_format)
    }

    /// File checkpoints of a session, if enabled.
    pub(crate) fn checkpoints(
        &self,
        key: &SessionKey,
        surroundings: &Surroundings,
    ) -> Result<Option<Arc<dyn Checkpoints>>, Error> {
        if let Some(checkpoints) = &self.checkpoints {
            return Ok(Some(Arc::clone(checkpoints)));
        }
        #[cfg(all(feature = "store", feature = "tools"))]
        if self.file_checkpoints {
            return self.checkpoints_beside_the_log(key, surroundings).map(Some);
        }
        let _ = (key, surroundings);
        Ok(None)
    }

    #[cfg(all(feature = "store", feature = "tools"))]
    fn checkpoints_beside_the_log(
        &self,
        key: &SessionKey,
        surroundings: &Surroundings,
    ) -> Result<Arc<dyn Checkpoints>, Error> {
        let limits = self.checkpoint_limits;
        let problem = match (&self.home, &surroundings.files.tree) {
            (_, None) if surroundings.files.workspace.is_some() => {
                "the files are not this machine's: give what reads and puts back whole files there with `WorkspaceOptions::file_tree`, \
                 or a store for them with `StorageOptions::checkpoint_store`"
            }
            (Some(home), None) => return Ok(Arc::new(home.file_checkpoints_with(&key.project, &key.session, limits))),
            (Some(home), Some(tree)) => {
                return Ok(Arc::new(home.checkpoints_of(&key.project, &key.session, limits, Arc::clone(tree))));
            }
            (None, _) => {
                "there is no place for them: call `.persist(Home::from_env()?)`, or give one with `StorageOptions::checkpoint_store`"
            }
        };
        Err(Error::Checkpoints { problem })
    }

    /// Name of the program in the log.
    pub(crate) fn entrypoint(&self) -> String {
        self.entrypoint.clone().unwrap_or_else(|| "sdk-rust".to_owned())
    }

    /// Fields common to all lines of the log.
    pub(crate) fn header(&self, cwd: &Path, surroundings: &Surroundings) -> LogHeader {
        #[cfg(feature = "store")]
        let branch = (!surroundings.is_elsewhere()).then(|| windlass_store::git_branch(cwd)).flatten();
        #[cfg(not(feature = "store"))]
        let (branch, _) = (None, surroundings);
        LogHeader::new(cwd.to_string_lossy(), env!("CARGO_PKG_VERSION"), self.entrypoint()).with_git_branch(branch)
    }
}

/// Folders for results that are too large for the model: beside the session's log, else a temporary directory.
pub(crate) struct LargeResults {
    pub(crate) kept: Option<PathBuf>,
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

/// The disk space that outputs of programs take.
#[derive(Debug)]
pub(crate) struct OutputSpace(#[cfg(feature = "tools")] pub(crate) windlass_local::KeptSpace);

impl OutputSpace {
    pub(crate) fn of(storage: &Storage) -> Self {
        #[cfg(feature = "tools")]
        {
            let limits = storage.output_limits;
            let projects = storage.home.as_ref().map(|home| home.root().join("projects"));
            Self(match projects {
                Some(projects) => windlass_local::KeptSpace::in_home(limits, projects),
                None => windlass_local::KeptSpace::new(limits),
            })
        }
        #[cfg(not(feature = "tools"))]
        {
            let _ = storage;
            Self()
        }
    }

    /// Sends notices to a session from now on.
    pub(crate) fn report_to(&self, session: &windlass_runtime::SessionHandle) {
        #[cfg(feature = "tools")]
        {
            let session = session.weak();
            // A session that has ended reads no more.
            self.0.on_notice(move |text| drop(session.notice(text)));
        }
        #[cfg(not(feature = "tools"))]
        let _ = session;
    }
}

/// Lets calls read below a directory without a permission request.
pub(crate) fn allow_reading_below(policy: &mut Policy, directory: &Path, cwd: &Path) {
    // In a rule these characters would match other directories, too. Reads below such a path need a permission request
    // like others.
    let Some(path) = directory.to_str().filter(|path| !path.contains(['*', '?', '[', '{', '!', '\\'])) else { return };
    let _ = policy.add_rules(RuleSource::Session, Behavior::Allow, &[format!("Read(/{path}/**)")], cwd);
}
