//! Disk space for the stored outputs of sessions.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Folder of a session that holds its outputs.
const OUTPUTS: &str = "tool-results";

/// Limits of stored outputs on disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptLimits {
    /// Maximum number of bytes of one session. Default: 4 GiB.
    pub session: u64,
    /// Maximum number of bytes of all sessions of a home together. Default: 16 GiB.
    pub home: u64,
}

impl Default for KeptLimits {
    fn default() -> Self {
        Self { session: 4 << 30, home: 16 << 30 }
    }
}

impl KeptLimits {
    /// Limits of a session and of a home.
    #[must_use]
    pub const fn new(session: u64, home: u64) -> Self {
        Self { session, home }
    }
}

/// Account of the disk space for program outputs: one total for each session's folder, and one for the home.
///
/// Existing files are included, whoever wrote them. Clones share the account.
#[derive(Clone, Default)]
pub struct KeptSpace(Arc<KeptSpaceState>);

#[derive(Default)]
struct KeptSpaceState {
    limits: KeptLimits,
    /// Folder of the home with one folder for each project, in which each session has one.
    projects: Option<PathBuf>,
    state: Mutex<Accounts>,
}

#[derive(Default)]
struct Accounts {
    folders: HashMap<PathBuf, u64>,
    home: u64,
    /// `true` once the files of the home are measured.
    is_measured: bool,
    sent: SpaceNotices,
    listener: Option<Box<dyn Fn(String) + Send + Sync>>,
    /// Notices from the time before a listener was set.
    pending: Vec<String>,
}

/// Notices that were sent already; each is sent once.
#[derive(Default)]
struct SpaceNotices {
    near: bool,
    full: bool,
}

impl std::fmt::Debug for KeptSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptSpace").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

impl KeptSpace {
    /// Space with other limits than the default.
    #[must_use]
    pub fn new(limits: KeptLimits) -> Self {
        Self(Arc::new(KeptSpaceState { limits, ..KeptSpaceState::default() }))
    }

    /// Account of a session whose home has its projects in the folder `projects`.
    #[must_use]
    pub fn in_home(limits: KeptLimits, projects: impl Into<PathBuf>) -> Self {
        Self(Arc::new(KeptSpaceState { limits, projects: Some(projects.into()), ..KeptSpaceState::default() }))
    }

    /// Sends notices to a function: once when four fifths of a limit are used, and once when a limit is reached.
    pub fn on_notice(&self, listener: impl Fn(String) + Send + Sync + 'static) {
        let mut state = self.lock();
        state.pending.drain(..).for_each(&listener);
        state.listener = Some(Box::new(listener));
    }

    /// Measures a folder and the home the first time, and again near a limit, because files may have been removed.
    /// Blocks while it reads the folders.
    pub(crate) fn open(&self, folder: &Path) {
        let KeptLimits { session, home } = self.0.limits;
        let (measures_folder, measures_home) = {
            let state = self.lock();
            let used = state.folders.get(folder).copied();
            (used.is_none_or(|used| is_near(used, session)), !state.is_measured || is_near(state.home, home))
        };
        // Measured without the lock, so that other outputs can be written meanwhile.
        let folder_size = measures_folder.then(|| size_of(folder));
        let home_size = self.0.projects.as_deref().filter(|_| measures_home).map(all_outputs);
        let mut state = self.lock();
        if let Some(folder_size) = folder_size {
            state.folders.insert(folder.to_owned(), folder_size);
        }
        if let Some(home_size) = home_size {
            (state.home, state.is_measured) = (home_size, true);
        }
    }

    /// Reserves up to `wanted` bytes for a file in a folder. Returns the number of bytes that may be written.
    pub(crate) fn take(&self, folder: &Path, wanted: u64) -> u64 {
        let KeptLimits { session, home } = self.0.limits;
        let mut state = self.lock();
        let used = state.folders.get(folder).copied().unwrap_or_default();
        let home_room = if self.0.projects.is_some() { home.saturating_sub(state.home) } else { u64::MAX };
        let taken = wanted.min(session.saturating_sub(used)).min(home_room);
        state.folders.insert(folder.to_owned(), used.saturating_add(taken));
        state.home = state.home.saturating_add(taken);
        let is_session_near = is_near(used.saturating_add(taken), session);
        let is_home_near = self.0.projects.is_some() && is_near(state.home, home);
        let owner = if is_session_near { "this session keeps" } else { "the sessions of this home keep" };
        let (size, limit) = if is_session_near { (used.saturating_add(taken), session) } else { (state.home, home) };
        let advice = "`windlass sessions gc` frees those of sessions that are not used any more";
        if taken < wanted && !std::mem::replace(&mut state.sent.full, true) {
            state.sent.near = true;
            state.notice(format!(
                "The outputs that {owner} on disk have reached their limit of {limit} bytes: only the beginning of further ones \
                 is kept. {advice}."
            ));
        } else if (is_session_near || is_home_near) && !std::mem::replace(&mut state.sent.near, true) {
            state.notice(format!("The outputs that {owner} on disk take up {size} of {limit} bytes. {advice}."));
        }
        taken
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Accounts {
    fn notice(&mut self, text: String) {
        match &self.listener {
            Some(listener) => listener(text),
            None => self.pending.push(text),
        }
    }
}

/// `true` if four fifths of a limit are used.
fn is_near(used: u64, limit: u64) -> bool {
    used >= limit / 5 * 4
}

/// Total size in bytes of the files in a folder. Unreadable files are left out.
fn size_of(folder: &Path) -> u64 {
    entries(folder).filter_map(|entry| entry.metadata().ok()).filter(fs::Metadata::is_file).map(|file| file.len()).sum()
}

/// Total size in bytes of all stored outputs of a home's sessions.
fn all_outputs(projects: &Path) -> u64 {
    let folders = |parent: &Path| -> Vec<PathBuf> {
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        entries(parent).filter(is_folder).map(|entry| entry.path()).collect()
    };
    let sessions = folders(projects).into_iter().flat_map(|project| folders(&project));
    sessions.map(|session| size_of(&session.join(OUTPUTS))).sum()
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    let read = fs::read_dir(folder).inspect_err(|error| {
        if error.kind() != ErrorKind::NotFound {
            tracing::debug!(folder = %folder.display(), %error, "outputs are not counted");
        }
    });
    read.into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(space: &KeptSpace) -> Arc<Mutex<Vec<String>>> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        space.on_notice(move |text| kept.lock().unwrap().push(text));
        heard
    }

    #[test]
    fn a_session_keeps_no_more_than_its_limit_and_says_so_before() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("earlier.txt"), "x".repeat(500)).unwrap();
        let space = KeptSpace::new(KeptLimits::new(1000, u64::MAX));
        let heard = heard(&space);
        space.open(place.path());
        assert_eq!((space.take(place.path(), 200), heard.lock().unwrap().len()), (200, 0));
        assert_eq!(space.take(place.path(), 150), 150);
        assert!(heard.lock().unwrap()[0].contains("850 of 1000 bytes"), "{heard:?}");
        assert_eq!((space.take(place.path(), 400), space.take(place.path(), 1)), (150, 0));
        let sent = heard.lock().unwrap().clone();
        assert!(
            sent.len() == 2 && sent[1].contains("reached their limit of 1000") && sent[1].contains("gc"),
            "{sent:?}"
        );
        // Another session has its own limit, and removed bytes are free again.
        let other = tempfile::tempdir().unwrap();
        space.open(other.path());
        assert_eq!(space.take(other.path(), 1000), 1000);
        space.open(place.path());
        assert_eq!(space.take(place.path(), 700), 500, "the rest was never written");
    }

    #[test]
    fn the_sessions_of_a_home_share_a_limit() {
        let home = tempfile::tempdir().unwrap();
        let session = |name: &str| home.path().join("project").join(name).join(OUTPUTS);
        for name in ["one", "two"] {
            fs::create_dir_all(session(name)).unwrap();
            fs::write(session(name).join("a.txt"), "x".repeat(400)).unwrap();
        }
        let space = KeptSpace::in_home(KeptLimits::new(1000, 1200), home.path());
        space.open(&session("one"));
        // A notice from before the listener is not lost.
        assert_eq!(space.take(&session("one"), 300), 300);
        let heard = heard(&space);
        assert!(
            heard.lock().unwrap()[0].contains("sessions of this home keep on disk take up 1100 of 1200"),
            "{heard:?}"
        );
        assert_eq!(space.take(&session("one"), 300), 100);
        assert_eq!(heard.lock().unwrap().len(), 2);
    }
}
