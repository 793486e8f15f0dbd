//! Conformance of file checkpoints: checks of the promises of [`Checkpoints`].
//!
//! Each function checks one promise and returns a [`Violation`] if it is broken; [`all`] runs them all, on one session.
//! The files are changed through a [`Fixture`], as tools and as other programs would change them.

use crate::Violation;
use crate::violation::ensure;
use crate::workspace::{Fixture, Item};
use std::io;
use std::path::{Path, PathBuf};
use windlass_session::{
    CheckpointError, CheckpointErrorKind, CheckpointKind, Checkpoints, FileChange, NotRestoredKind, Rewind,
    RewindOptions,
};
use windlass_types::{EntryId, ToolUseId};

/// Checks every promise of this module in turn.
///
/// # Errors
/// The first broken promise.
pub async fn all(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    gives_back_what_was(checkpoints, files).await?;
    the_first_change_counts(checkpoints, files).await?;
    every_prompt_is_a_checkpoint(checkpoints, files).await?;
    a_preview_changes_nothing(checkpoints, files).await?;
    rewinding_twice_is_rewinding_once(checkpoints, files).await?;
    a_rewind_can_be_undone(checkpoints, files).await?;
    other_files_are_left_alone(checkpoints, files).await?;
    nothing_outside_is_touched(checkpoints, files).await?;
    links_are_left_alone(checkpoints, files).await?;
    changes_of_others_are_reported(checkpoints, files).await?;
    changes_of_others_can_be_left(checkpoints, files).await?;
    unknown_checkpoints_are_refused(checkpoints, files).await
}

/// Check of one promise, with its own directory and its own prompts.
struct CheckpointCase<'a> {
    rule: &'static str,
    number: u128,
    checkpoints: &'a dyn Checkpoints,
    files: &'a dyn Fixture,
    directory: PathBuf,
}

impl<'a> CheckpointCase<'a> {
    async fn new(
        rule: &'static str,
        number: u128,
        checkpoints: &'a dyn Checkpoints,
        files: &'a dyn Fixture,
    ) -> Result<Self, Violation> {
        let directory = files.root().join(format!("checkpoints-{number}"));
        let case = Self { rule, number, checkpoints, files, directory };
        let made = case.files.put(&case.directory, Item::Directory).await;
        case.io("a directory is made", made)?;
        Ok(case)
    }

    fn prompt(&self, number: u128) -> EntryId {
        EntryId::from_bits((0xc4ec << 64) | (self.number << 16) | number)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn options(&self) -> RewindOptions {
        RewindOptions::within([self.directory.clone()])
    }

    fn violation(&self, text: impl std::fmt::Display) -> Violation {
        Violation::new(format!("{}: {text}", self.rule))
    }

    fn io<T>(&self, what: &str, result: io::Result<T>) -> Result<T, Violation> {
        result.map_err(|error| self.violation(format!("the fixture failed: {what}: {error}")))
    }

    fn ok<T>(&self, what: &str, result: Result<T, CheckpointError>) -> Result<T, Violation> {
        result.map_err(|error| self.violation(format!("{what}: {error} ({:?})", error.kind)))
    }

    async fn begin(&self, prompt: u128) -> Result<(), Violation> {
        self.ok("a checkpoint begins", self.checkpoints.begin(&self.prompt(prompt)).await)
    }

    /// Changes a file as another program does. `None` means no file.
    async fn set(&self, name: &str, content: Option<&str>) -> Result<(), Violation> {
        let path = self.path(name);
        match self.files.remove(&path).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(self.violation(format!("the fixture failed: a file is removed: {error}")));
            }
            _ => {}
        }
        match content {
            None => Ok(()),
            Some(content) => self.io("a file is put", self.files.put(&path, Item::File(content.as_bytes())).await),
        }
    }

    /// Changes a file as a call of a tool does.
    async fn change(&self, prompt: u128, name: &str, content: Option<&str>) -> Result<(), Violation> {
        let (id, paths) = (ToolUseId::from("call"), [self.path(name)]);
        let kept = self.checkpoints.keep(&self.prompt(prompt), &id, &paths).await;
        self.ok("a file is kept", kept)?;
        self.set(name, content).await?;
        self.ok("a change is noted", self.checkpoints.changed(&id, &paths).await)
    }

    async fn rewind(&self, to: &EntryId) -> Result<Rewind, Violation> {
        self.ok("files are rewound", self.checkpoints.rewind(to, &self.options()).await)
    }

    async fn content(&self, path: &Path) -> Result<Option<String>, Violation> {
        match self.files.content(path).await {
            Ok(content) => Ok(Some(String::from_utf8_lossy(&content).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.violation(format!("the fixture failed: a file is read: {error}"))),
        }
    }

    async fn expect(&self, when: &str, name: &str, content: Option<&str>) -> Result<(), Violation> {
        let found = self.content(&self.path(name)).await?;
        ensure(found.as_deref() == content, || {
            format!("{}: {when}, {name} is {found:?} and not {content:?}", self.rule)
        })
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, found: &T, expected: &T) -> Result<(), Violation> {
        ensure(found == expected, || format!("{}: {what}: {found:?}, not {expected:?}", self.rule))
    }

    /// Returns the report of a rewind, in a form that can be compared.
    fn report(&self, rewind: &Rewind) -> Vec<(String, Option<FileChange>, Option<NotRestoredKind>)> {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = rewind.files.iter();
        files.map(|file| (name(&file.path), file.change, file.problem.as_ref().map(|problem| problem.kind))).collect()
    }
}

/// Checks that a rewind restores contents and removed files, and removes new files.
///
/// # Errors
/// The promise is broken.
pub async fn gives_back_what_was(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("files get back what they were", 1, checkpoints, files).await?;
    case.set("changed", Some("one\ntwo\n")).await?;
    case.set("removed", Some("three\n")).await?;
    case.begin(1).await?;
    case.change(1, "changed", Some("one\n")).await?;
    case.change(1, "removed", None).await?;
    case.change(1, "made", Some("new\n")).await?;
    let rewind = case.rewind(&case.prompt(1)).await?;
    let expected = [("changed", FileChange::Modified), ("made", FileChange::Deleted), ("removed", FileChange::Created)];
    let expected = expected.map(|(name, change)| (name.to_owned(), Some(change), None)).to_vec();
    case.same("the report", &case.report(&rewind), &expected)?;
    case.same("lines in and out", &(rewind.insertions(), rewind.deletions()), &(2, 1))?;
    case.expect("after a rewind", "changed", Some("one\ntwo\n")).await?;
    case.expect("after a rewind", "removed", Some("three\n")).await?;
    case.expect("after a rewind", "made", None).await
}

/// Checks that the first content counts however often a prompt changes a file, and that each prompt has its own.
///
/// # Errors
/// The promise is broken.
pub async fn the_first_change_counts(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("what was there first counts", 2, checkpoints, files).await?;
    for prompt in 1..=3 {
        case.begin(prompt).await?;
        for step in 1..=2 {
            case.change(prompt, "file", Some(&format!("{prompt}.{step}"))).await?;
        }
    }
    for (prompt, content) in [(3, Some("2.2")), (2, Some("1.2")), (1, None)] {
        case.rewind(&case.prompt(prompt)).await?;
        case.expect("after a rewind", "file", content).await?;
    }
    Ok(())
}

/// Checks that a prompt that changed nothing can be rewound to, and that all are listed in order.
///
/// # Errors
/// The promise is broken.
pub async fn every_prompt_is_a_checkpoint(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("every prompt is a checkpoint", 3, checkpoints, files).await?;
    case.set("file", Some("before")).await?;
    case.begin(1).await?;
    case.begin(2).await?;
    case.change(2, "file", Some("after")).await?;
    // A prompt that begins again is still the same checkpoint.
    case.begin(1).await?;
    let listed = case.ok("they are listed", checkpoints.list().await)?;
    let ours: Vec<_> = listed.iter().filter(|one| (1..=2).any(|number| one.id == case.prompt(number))).collect();
    let found: Vec<_> = ours.iter().map(|one| (one.id.clone(), one.kind, one.files)).collect();
    let expected = vec![(case.prompt(1), CheckpointKind::Prompt, 0), (case.prompt(2), CheckpointKind::Prompt, 1)];
    case.same("the list", &found, &expected)?;
    case.rewind(&case.prompt(1)).await?;
    case.expect("after a rewind to a prompt that changed nothing", "file", Some("before")).await
}

/// Checks that a preview of a rewind reports the same as the rewind, and changes no file.
///
/// # Errors
/// The promise is broken.
pub async fn a_preview_changes_nothing(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("a preview changes nothing", 4, checkpoints, files).await?;
    case.set("file", Some("before\n")).await?;
    case.begin(1).await?;
    case.change(1, "file", Some("after\n")).await?;
    let preview = checkpoints.changes(&case.prompt(1), &case.options()).await;
    let preview = case.ok("changes are reported", preview)?;
    case.expect("after a preview", "file", Some("after\n")).await?;
    let done = case.rewind(&case.prompt(1)).await?;
    case.same("both reports", &preview.files, &done.files)
}

/// Checks that the second of two rewinds to the same checkpoint finds no file to change.
///
/// # Errors
/// The promise is broken.
pub async fn rewinding_twice_is_rewinding_once(
    checkpoints: &dyn Checkpoints,
    files: &dyn Fixture,
) -> Result<(), Violation> {
    let case = CheckpointCase::new("rewinding twice is rewinding once", 5, checkpoints, files).await?;
    case.begin(1).await?;
    case.change(1, "file", Some("after")).await?;
    case.rewind(&case.prompt(1)).await?;
    let again = case.rewind(&case.prompt(1)).await?;
    case.same("what the second one does", &again, &Rewind::default())?;
    case.expect("after two rewinds", "file", None).await
}

/// Checks that a rewind is itself a checkpoint, and that earlier prompts keep their meaning.
///
/// # Errors
/// The promise is broken.
pub async fn a_rewind_can_be_undone(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("a rewind can be undone", 6, checkpoints, files).await?;
    case.set("file", Some("0")).await?;
    for prompt in 1..=2 {
        case.begin(prompt).await?;
        case.change(prompt, "file", Some(&prompt.to_string())).await?;
        case.change(prompt, &format!("made-{prompt}"), Some("made")).await?;
    }
    let done = case.rewind(&case.prompt(1)).await?;
    case.expect("after a rewind", "file", Some("0")).await?;
    let undo = done.undo.ok_or_else(|| case.violation("a rewind that changed files names no checkpoint to undo it"))?;
    case.rewind(&undo).await?;
    case.expect("after a rewind was undone", "file", Some("2")).await?;
    case.expect("after a rewind was undone", "made-1", Some("made")).await?;
    case.rewind(&case.prompt(2)).await?;
    case.expect("after a rewind to the second prompt", "file", Some("1")).await?;
    case.expect("after a rewind to the second prompt", "made-2", None).await?;
    let listed = case.ok("they are listed", checkpoints.list().await)?;
    let kind = listed.iter().find(|one| one.id == undo).map(|one| one.kind);
    case.same("the kind of its checkpoint", &kind, &Some(CheckpointKind::Rewind))
}

/// Checks that files that no tool changed stay unchanged.
///
/// # Errors
/// The promise is broken.
pub async fn other_files_are_left_alone(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("other files are left alone", 7, checkpoints, files).await?;
    case.set("old", Some("old")).await?;
    case.begin(1).await?;
    case.change(1, "file", Some("after")).await?;
    case.set("old", Some("old, changed")).await?;
    case.set("new", Some("new")).await?;
    case.rewind(&case.prompt(1)).await?;
    case.expect("after a rewind", "old", Some("old, changed")).await?;
    case.expect("after a rewind", "new", Some("new")).await
}

/// Checks that files outside of the given directories are named and not touched, also where the name of a directory is
/// a prefix of another one.
///
/// # Errors
/// The promise is broken.
pub async fn nothing_outside_is_touched(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("nothing outside is touched", 8, checkpoints, files).await?;
    for name in ["in", "in-not"] {
        case.io("a directory is made", files.put(&case.path(name), Item::Directory).await)?;
    }
    case.begin(1).await?;
    case.change(1, "in/file", Some("after")).await?;
    case.change(1, "in-not/file", Some("after")).await?;
    let options = RewindOptions::within([case.path("in")]);
    let done = case.ok("files are rewound", checkpoints.rewind(&case.prompt(1), &options).await)?;
    let expected = vec![
        ("file".to_owned(), Some(FileChange::Deleted), None),
        ("file".to_owned(), None, Some(NotRestoredKind::Outside)),
    ];
    let mut report = case.report(&done);
    report.sort_by_key(|(_, change, _)| change.is_none());
    case.same("the report", &report, &expected)?;
    case.expect("after a rewind", "in/file", None).await?;
    case.expect("after a rewind", "in-not/file", Some("after")).await
}

/// Checks that a link that replaced a file, or a directory above it, is not followed.
///
/// # Errors
/// The promise is broken.
pub async fn links_are_left_alone(checkpoints: &dyn Checkpoints, files: &dyn Fixture) -> Result<(), Violation> {
    let case = CheckpointCase::new("links are left alone", 9, checkpoints, files).await?;
    for name in ["way", "elsewhere"] {
        case.io("a directory is made", files.put(&case.path(name), Item::Directory).await)?;
    }
    case.set("elsewhere/file", Some("not yours")).await?;
    for name in ["file", "way/file"] {
        case.set(name, Some("before")).await?;
    }
    case.begin(1).await?;
    for name in ["file", "way/file", "way/made"] {
        case.change(1, name, Some("after")).await?;
    }
    for (name, target) in [("file", "elsewhere/file"), ("way", "elsewhere")] {
        case.io("a file is removed", files.remove(&case.path(name)).await)?;
        match files.put(&case.path(name), Item::Link(&case.path(target))).await {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(()),
            put => case.io("a link is put", put)?,
        }
    }
    let done = case.rewind(&case.prompt(1)).await?;
    let expected = ["file", "file", "made"].map(|name| (name.to_owned(), None, Some(NotRestoredKind::Link))).to_vec();
    case.same("the report", &case.report(&done), &expected)?;
    case.same("the checkpoint that undoes it", &done.undo, &None)?;
    case.expect("after a rewind", "elsewhere/file", Some("not yours")).await?;
    case.expect("after a rewind", "elsewhere/made", None).await
}

/// Checks that a later change by another program is reported, rewound and kept.
///
/// # Errors
/// The promise is broken.
pub async fn changes_of_others_are_reported(
    checkpoints: &dyn Checkpoints,
    files: &dyn Fixture,
) -> Result<(), Violation> {
    let case = CheckpointCase::new("changes of others are reported and kept", 10, checkpoints, files).await?;
    case.begin(1).await?;
    case.change(1, "ours", Some("tool")).await?;
    case.change(1, "theirs", Some("tool")).await?;
    case.set("theirs", Some("other")).await?;
    let done = case.rewind(&case.prompt(1)).await?;
    let conflicts: Vec<bool> = done.files.iter().map(|file| file.conflict).collect();
    case.same("the conflicts", &conflicts, &vec![false, true])?;
    case.expect("after a rewind", "theirs", None).await?;
    let undo = done.undo.ok_or_else(|| case.violation("a rewind that changed files names no checkpoint to undo it"))?;
    case.rewind(&undo).await?;
    case.expect("after a rewind was undone", "theirs", Some("other")).await
}

/// Checks that a later change by another program is left alone on request.
///
/// # Errors
/// The promise is broken.
pub async fn changes_of_others_can_be_left(
    checkpoints: &dyn Checkpoints,
    files: &dyn Fixture,
) -> Result<(), Violation> {
    let case = CheckpointCase::new("changes of others can be left", 11, checkpoints, files).await?;
    case.begin(1).await?;
    case.change(1, "ours", Some("tool")).await?;
    case.change(1, "theirs", Some("tool")).await?;
    case.set("theirs", Some("other")).await?;
    let options = case.options().leaving_conflicts();
    let done = case.ok("files are rewound", checkpoints.rewind(&case.prompt(1), &options).await)?;
    let left: Vec<_> = done.left().filter_map(|file| file.problem.as_ref()).map(|problem| problem.kind).collect();
    case.same("what is left", &left, &vec![NotRestoredKind::Conflict])?;
    case.expect("after a rewind", "ours", None).await?;
    case.expect("after a rewind", "theirs", Some("other")).await
}

/// Checks that an unknown checkpoint is an error, and that no file changes.
///
/// # Errors
/// The promise is broken.
pub async fn unknown_checkpoints_are_refused(
    checkpoints: &dyn Checkpoints,
    files: &dyn Fixture,
) -> Result<(), Violation> {
    let case = CheckpointCase::new("unknown checkpoints are refused", 12, checkpoints, files).await?;
    case.begin(1).await?;
    case.change(1, "file", Some("after")).await?;
    let (unknown, options) = (case.prompt(9), case.options());
    for refused in [checkpoints.changes(&unknown, &options).await, checkpoints.rewind(&unknown, &options).await] {
        let kind = refused.err().map(|error| error.kind);
        case.same("the error", &kind, &Some(CheckpointErrorKind::Unknown))?;
    }
    case.expect("after a rewind that was refused", "file", Some("after")).await
}
