//! Instruction files for a model: `CLAUDE.md`, `AGENTS.md`, rules, and their imports.

mod excludes;
mod fit;
mod imports;
mod places;
mod read;
mod waiting;

pub use excludes::InstructionExcludes;
pub(crate) use imports::{fence_of, imports, names_a_file, target};
pub use waiting::WaitingInstruction;

use crate::front_matter;
use crate::note::{Note, Notes};
use crate::places::Places;
use crate::sources::SettingSources;
use globset::{Glob, GlobSet, GlobSetBuilder};
use places::{Candidate, Layout, of_folder};
use read::{Files, Found};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::{FileInstructions, InstructionSource, is_secret};
use windlass_tool::Workspace;

/// Maximum number of files of a session, imports included.
const MAX_FILES: usize = 512;
/// Maximum depth of nested imports.
const MAX_IMPORT_DEPTH: u8 = 5;

/// The instructions of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// Source of the instructions.
    pub source: InstructionSource,
    /// The file.
    pub path: PathBuf,
    /// The file that imports it, if one does.
    pub imported_by: Option<PathBuf>,
    /// Text for the model.
    pub content: String,
    /// Number of characters cut from the end, because all instructions together are too long.
    pub left_out: usize,
}

impl Instruction {
    /// Returns the text for the model. `None` if it is blank.
    #[must_use]
    pub fn for_model(&self) -> Option<FileInstructions> {
        let mut read = FileInstructions::new(self.source, &self.path.display().to_string(), &self.content)?;
        read.left_out = self.left_out;
        Some(read)
    }
}

/// Finds the instruction files of a session: of the administrator, the user, the project and its folders.
///
/// The files of a project are read through the [`Workspace`], those of user and administrator on this machine. No
/// program is run. No file outside of the project is read because a file of the project names it: imports that lead out
/// of the project are left out with a note, and so are links. Each file is read once, however many names it has, and so
/// is each content.
///
/// | file | source |
/// |---|---|
/// | `CLAUDE.md`, `AGENTS.md` beside the managed settings | managed |
/// | `CLAUDE.md`, `AGENTS.md`, `rules/**/*.md` in the user's directories (`~/.windlass`, `~/.claude`) | user |
/// | `AGENTS.md`, `CLAUDE.md`, and the same and `rules/**/*.md` in `.windlass` and `.claude`, in each directory from the root of the repository to the start (without a repository: from below the home) | project |
/// | `CLAUDE.local.md` in these directories | local |
///
/// A rule whose front matter has `paths` is read once a file is used that matches one of these patterns. The files of
/// folders below the start are read once a file in them is used.
pub struct InstructionFiles {
    places: Places,
    sources: SettingSources,
    files: Files,
    excludes: InstructionExcludes,
    /// Directories of the workspace outside of the project whose files are read as well.
    added: Vec<PathBuf>,
    /// The directories of a project that is not on this machine.
    remote_directories: Option<Vec<PathBuf>>,
    layout: Option<Layout>,
    /// Files already read: the resolved paths, and the digests of the contents.
    seen: (BTreeSet<PathBuf>, BTreeSet<[u8; 32]>),
    /// Rules that apply once a matching file is used.
    waiting: Vec<Rule>,
    /// Folders below the start that were read.
    visited: BTreeSet<PathBuf>,
    /// Number of characters left for instructions.
    remaining_chars: usize,
    notes: Notes,
}

/// A rule for some files only.
struct Rule {
    instruction: Instruction,
    /// The folder that its patterns are relative to.
    base: PathBuf,
    patterns: GlobSet,
    /// The patterns as written.
    written: Vec<String>,
}

/// A file that is to be read.
struct Job {
    candidate: Candidate,
    imported_by: Option<PathBuf>,
    depth: u8,
}

impl fmt::Debug for InstructionFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstructionFiles")
            .field("start", &self.places.start())
            .field("seen", &self.seen.0.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

impl InstructionFiles {
    /// Maximum number of characters of the instructions of a session together. Default of
    /// [`most_characters`](Self::most_characters).
    pub const MOST_CHARACTERS: usize = 120_000;

    /// Creates the instruction files of a session that starts there. None is read yet.
    #[must_use]
    pub fn new(places: Places, sources: SettingSources, workspace: Arc<dyn Workspace>) -> Self {
        Self {
            places,
            sources,
            files: Files { workspace, may_read: Arc::new(|_, _| true) },
            excludes: InstructionExcludes::default(),
            added: Vec::new(),
            remote_directories: None,
            layout: None,
            seen: Default::default(),
            waiting: Vec::new(),
            visited: BTreeSet::new(),
            remaining_chars: Self::MOST_CHARACTERS,
            notes: Notes::default(),
        }
    }

    /// Sets the predicate that judges each file of the project before it is opened: by its path as written, and by its
    /// resolved path. Default: all may be read.
    #[must_use]
    pub fn may_read(mut self, judge: impl Fn(&Path, &Path) -> bool + Send + Sync + 'static) -> Self {
        self.files.may_read = Arc::new(judge);
        self
    }

    /// Leaves out the files that these patterns name, also where another one imports them. Default: none.
    #[must_use]
    pub fn excluding(mut self, excludes: InstructionExcludes) -> Self {
        self.excludes = excludes;
        self
    }

    /// Reads the files of these directories as well, behind those of the project: the instruction files that a
    /// directory of a project may have, and imports within the directory. Absolute, with links followed. Folders below
    /// them are not read. Default: none.
    #[must_use]
    pub fn with_directories(mut self, directories: Vec<PathBuf>) -> Self {
        self.added = directories;
        self
    }

    /// Reads the files of these directories in the place of the project's: for a project that is not on this machine.
    /// From the uppermost to the start directory; no others above are read.
    #[must_use]
    pub fn elsewhere(mut self, directories: Vec<PathBuf>) -> Self {
        self.remote_directories = Some(directories);
        self
    }

    /// Sets the maximum number of characters of all instructions together. The excess is left out: first imports, then
    /// the user's, then the project's from its root on, then local ones, then managed ones.
    #[must_use]
    pub fn most_characters(mut self, most: usize) -> Self {
        self.remaining_chars = most;
        self
    }

    /// Reads the instructions that a session begins with, in the order in which the model reads them: managed, user,
    /// project and local ones, those of the start last.
    pub async fn load(&mut self) -> Vec<Instruction> {
        let layout = match self.remote_directories.take() {
            Some(directories) => Layout::given(directories),
            None => Layout::of(&self.places, &self.files).await,
        };
        let mut candidates = layout.first(&self.places, self.sources, &self.files).await;
        for directory in self.added.iter().filter(|directory| !layout.holds(directory)) {
            candidates.extend(of_folder(directory, directory, self.sources, &self.files).await);
        }
        self.layout = Some(layout);
        self.read(candidates).await
    }

    /// Reads the instructions for files that are used now: those of the folders that they lie in and that are below the
    /// start, and the rules that name one of the paths. Each is given once. Folders and paths are absolute and
    /// lexically normal; others are ignored.
    pub async fn of_paths(&mut self, folders: &[&Path], paths: &[PathBuf]) -> Vec<Instruction> {
        let Some(layout) = &self.layout else { return Vec::new() };
        let folders = layout.unvisited(folders.iter().copied(), &mut self.visited);
        let mut candidates = Vec::new();
        for folder in &folders {
            candidates.extend(of_folder(folder, layout.root(), self.sources, &self.files).await);
        }
        let mut found = self.read(candidates).await;
        let (named, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|rule| rule.names(paths));
        self.waiting = waiting;
        let named: Vec<Rule> = named;
        let rules = named.into_iter().map(|rule| rule.instruction).collect();
        found.extend(fit::fit(rules, &mut self.remaining_chars, &mut self.notes));
        found
    }

    /// Takes the notes on omissions since the last call, with the reasons.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes.0)
    }

    /// Reads files and their imports.
    async fn read(&mut self, candidates: Vec<Candidate>) -> Vec<Instruction> {
        let job = |candidate| Job { candidate, imported_by: None, depth: 0 };
        let mut jobs: Vec<Job> = candidates.into_iter().rev().map(job).collect();
        let mut found = Vec::new();
        while let Some(job) = jobs.pop() {
            if self.seen.0.len() >= MAX_FILES {
                self.notes.add(&job.candidate.path, format!("there are more than {MAX_FILES} files with instructions"));
                break;
            }
            let Some(text) = self.text_of(&job).await else { continue };
            jobs.extend(self.imports_of(&job, &text).into_iter().rev());
            if let Some(instruction) = self.instruction(job, &text) {
                found.push(instruction);
            }
        }
        fit::fit(found, &mut self.remaining_chars, &mut self.notes)
    }

    /// Returns the text of a file that was not read before.
    async fn text_of(&mut self, job: &Job) -> Option<String> {
        let Candidate { path, within, source, .. } = &job.candidate;
        if self.excludes.cover(*source, path) {
            return None;
        }
        let read = match (within, &job.candidate.rules_of) {
            (Some(_), Some(_)) => self.files.of_listed(path).await,
            (Some(within), None) => self.files.of_workspace(path, within).await,
            (None, _) => self.files.of_machine(path),
        };
        match read {
            Ok(Some(Found { resolved, .. })) if self.excludes.cover(*source, &resolved) => {}
            Ok(Some(Found { resolved, text })) => {
                if is_secret(&resolved) {
                    self.notes.add(path, "it may hold secrets, so it is left out");
                    return None;
                }
                let is_new = self.seen.0.insert(resolved)
                    && self.seen.1.insert(*blake3::hash(text.trim().as_bytes()).as_bytes());
                return is_new.then_some(text);
            }
            Ok(None) => {
                let name = job.imported_by.as_ref().zip(job.candidate.name.as_deref());
                if let Some((importer, name)) = name.filter(|(_, name)| names_a_file(name)) {
                    self.notes.add(importer, format!("the import @{name} is not there"));
                }
            }
            Err(problem) => self.notes.add(path, format!("{problem}, so it is left out")),
        }
        None
    }

    /// Returns the imports of a file.
    fn imports_of(&mut self, job: &Job, text: &str) -> Vec<Job> {
        let Candidate { path, within, source, .. } = &job.candidate;
        let folder = path.parent().unwrap_or(path);
        let mut jobs = Vec::new();
        for name in imports(text) {
            let Some(target) = target(&name, folder, self.places.user_home.as_deref()) else { continue };
            if is_secret(&target) {
                self.notes.add(path, format!("@{name} is left out: it may hold secrets"));
            } else if within.as_ref().is_some_and(|within| !target.starts_with(within)) {
                self.notes.add(path, format!("@{name} is left out: it leads out of the project"));
            } else if job.depth >= MAX_IMPORT_DEPTH {
                self.notes.add(path, format!("@{name} is left out: {MAX_IMPORT_DEPTH} imports lead to it already"));
            } else {
                let candidate = Candidate {
                    path: target,
                    within: within.clone(),
                    source: *source,
                    name: Some(name),
                    rules_of: None,
                };
                jobs.push(Job { candidate, imported_by: Some(path.clone()), depth: job.depth.saturating_add(1) });
            }
        }
        jobs
    }

    /// Returns the instructions in a text, unless they are a rule that waits for its files.
    fn instruction(&mut self, job: Job, text: &str) -> Option<Instruction> {
        let Job { candidate: Candidate { path, source, rules_of, .. }, imported_by, .. } = job;
        let Some(base) = rules_of else {
            return Some(Instruction { source, path, imported_by, content: text.to_owned(), left_out: 0 });
        };
        let (head, body) = front_matter::split(text);
        let instruction = Instruction { source, path, imported_by, content: body.to_owned(), left_out: 0 };
        head.notices().iter().for_each(|notice| self.notes.add(&instruction.path, notice.clone()));
        let patterns = head.problem().map_or_else(|| head.list("paths"), |problem| Err(problem.to_owned()));
        let set = patterns.and_then(|patterns| {
            let set = build_glob_set(&patterns).map_err(|error| format!("its `paths` cannot be used: {error}"))?;
            Ok((set, patterns))
        });
        match set {
            Ok((_, patterns)) if patterns.is_empty() => return Some(instruction),
            Ok((set, patterns)) => self.waiting.push(Rule { instruction, base, patterns: set, written: patterns }),
            // An unusable pattern must not hide the rule, so it applies to every file.
            Err(problem) => {
                self.notes.add(&instruction.path, format!("{problem}; the rule applies to every file"));
                return Some(instruction);
            }
        }
        None
    }
}

impl Rule {
    fn names(&self, paths: &[PathBuf]) -> bool {
        paths.iter().filter_map(|path| path.strip_prefix(&self.base).ok()).any(|path| self.patterns.is_match(path))
    }
}

fn build_glob_set(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern.trim_start_matches("./"))?);
    }
    set.build()
}

#[cfg(test)]
mod tests;
