//! Directory of a fixture, and the workspace that is tested on it.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use windlass_tool::{
    EntryKind, JudgedPath, OpenFile, Permit, ResolvedPath, Workspace, WorkspaceError, WorkspaceErrorKind, WriteOptions,
};
use windlass_types::CallDigest;

use super::{Fixture, Item};
use crate::Violation;
use crate::violation::{ensure, within};

/// A separate directory for one rule.
pub(super) struct RuleSite<'a> {
    pub(super) workspace: &'a dyn Workspace,
    fixture: &'a dyn Fixture,
    root: PathBuf,
}

impl<'a> RuleSite<'a> {
    pub(super) async fn new(
        workspace: &'a dyn Workspace,
        fixture: &'a dyn Fixture,
        rule: &str,
    ) -> Result<Self, Violation> {
        let root = fixture.root().join(rule);
        fixture.put(&root, Item::Directory).await.map_err(|error| outside("make", &root, &error))?;
        Ok(Self { workspace, fixture, root })
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Puts an entry from outside. Returns `false` if this kind does not exist here.
    pub(super) async fn put(&self, path: &str, item: Item<'_>) -> Result<bool, Violation> {
        let path = self.at(path);
        match self.fixture.put(&path, item).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(false),
            Err(error) => Err(outside("make", &path, &error)),
        }
    }

    /// Puts a link with a target inside of this site. Returns `false` if there are no links.
    pub(super) async fn link(&self, path: &str, target: &str) -> Result<bool, Violation> {
        self.put(path, Item::Link(&self.at(target))).await
    }

    pub(super) async fn remove(&self, path: &str) -> Result<(), Violation> {
        let path = self.at(path);
        self.fixture.remove(&path).await.map_err(|error| outside("remove", &path, &error))
    }

    /// Checks the content of a file, from outside.
    pub(super) async fn expect_content(&self, path: &str, expected: &[u8], when: &str) -> Result<(), Violation> {
        let found = self.fixture.content(&self.at(path)).await;
        ensure(found.as_ref().is_ok_and(|found| found == expected), || match found {
            Ok(found) => format!("{when}: {path} holds {}, not {}", shown(&found), shown(expected)),
            Err(error) => format!("{when}: {path} cannot be read: {error}"),
        })
    }

    pub(super) async fn content(&self, path: &str) -> Result<Vec<u8>, Violation> {
        let path = self.at(path);
        self.fixture.content(&path).await.map_err(|error| outside("read", &path, &error))
    }

    pub(super) async fn names(&self, path: &str) -> Result<Vec<String>, Violation> {
        let path = self.at(path);
        let mut names = self.fixture.names(&path).await.map_err(|error| outside("list", &path, &error))?;
        names.sort_unstable();
        Ok(names)
    }

    /// Checks that a directory has exactly these names, from outside.
    pub(super) async fn expect_names(&self, path: &str, expected: &[&str], when: &str) -> Result<(), Violation> {
        let found = self.names(path).await?;
        ensure(found == expected, || format!("{when}: the directory holds {found:?}, not {expected:?}"))
    }

    /// Judges a path as a driver does.
    pub(super) async fn judge(&self, path: &str) -> Result<JudgedPath, Violation> {
        let requested = self.at(path);
        let resolved = self.resolve(path).await?;
        Ok(JudgedPath::new(requested, resolved.path))
    }

    pub(super) async fn reading(&self, paths: &[&str]) -> Result<Permit, Violation> {
        let mut judged = Vec::new();
        for path in paths {
            judged.push(self.judge(path).await?);
        }
        Ok(no_permit().with_reads(judged))
    }

    pub(super) async fn writing(&self, paths: &[&str]) -> Result<Permit, Violation> {
        let mut judged = Vec::new();
        for path in paths {
            judged.push(self.judge(path).await?);
        }
        Ok(no_permit().with_writes(judged))
    }

    pub(super) async fn resolve(&self, path: &str) -> Result<ResolvedPath, Violation> {
        let resolved = within(&format!("resolve {path}"), self.workspace.resolve(&self.at(path))).await?;
        resolved.map_err(|error| Violation::new(format!("resolve {path}: {error}")))
    }

    pub(super) async fn expect_resolved(&self, path: &str, to: &str, kind: EntryKind) -> Result<(), Violation> {
        let found = self.resolve(path).await?;
        let expected = (self.at(to), kind);
        let found = (found.path, found.kind);
        ensure(found == expected, || format!("{path} resolves to {found:?}, not {expected:?}"))
    }

    pub(super) async fn open(
        &self,
        permit: &Permit,
        path: &str,
    ) -> Result<Result<Box<dyn OpenFile>, WorkspaceError>, Violation> {
        within(&format!("open {path}"), self.workspace.open(permit, &self.at(path))).await
    }

    /// Opens a file and reads it to its end.
    pub(super) async fn read(&self, permit: &Permit, path: &str) -> Result<Vec<u8>, Violation> {
        let mut file = self.open(permit, path).await?.map_err(|error| unexpected("open", path, &error))?;
        read_all(&mut *file, 64 * 1024, path).await
    }

    pub(super) async fn write(
        &self,
        permit: &Permit,
        path: &str,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<Result<(), WorkspaceError>, Violation> {
        within(&format!("write {path}"), self.workspace.write(permit, &self.at(path), content, options)).await
    }

    pub(super) async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &str,
        expected: &str,
        content: &str,
    ) -> Result<Result<(), WorkspaceError>, Violation> {
        let at = self.at(path);
        let written = self.workspace.compare_and_write(permit, &at, expected.as_bytes(), content.as_bytes());
        within(&format!("compare and write {path}"), written).await
    }

    pub(super) async fn compare_and_remove(
        &self,
        permit: &Permit,
        path: &str,
        expected: &str,
    ) -> Result<Result<(), WorkspaceError>, Violation> {
        let at = self.at(path);
        let removed = self.workspace.compare_and_remove(permit, &at, expected.as_bytes());
        within(&format!("compare and remove {path}"), removed).await
    }

    pub(super) async fn list(
        &self,
        permit: &Permit,
        path: &str,
        limit: usize,
    ) -> Result<Result<Vec<String>, WorkspaceError>, Violation> {
        within(&format!("list {path}"), self.workspace.list(permit, &self.at(path), limit)).await
    }

    /// Checks that an operation was refused for one of these reasons, in words that name the path.
    pub(super) fn expect_refusal<T: Debug>(
        &self,
        found: Result<T, WorkspaceError>,
        path: &str,
        kinds: &[WorkspaceErrorKind],
        when: &str,
    ) -> Result<(), Violation> {
        let error = match found {
            Ok(found) => {
                return Err(Violation::new(format!("{when}: expected a refusal ({kinds:?}), but got {found:?}")));
            }
            Err(error) => error,
        };
        ensure(kinds.contains(&error.kind), || {
            format!("{when}: expected a refusal ({kinds:?}), but it was {:?}: {error}", error.kind)
        })?;
        let name = self.at(path).display().to_string();
        ensure(error.message.contains(&name), || format!("{when}: the error does not name {name}: {error}"))
    }
}

/// Returns a permit that covers no path.
pub(super) fn no_permit() -> Permit {
    Permit::new(CallDigest::new("00"))
}

pub(super) async fn read_all(file: &mut dyn OpenFile, limit: usize, path: &str) -> Result<Vec<u8>, Violation> {
    let mut content = Vec::new();
    loop {
        let chunk = within(&format!("read {path}"), file.read(limit)).await?;
        let chunk = chunk.map_err(|error| unexpected("read", path, &error))?;
        ensure(chunk.len() <= limit, || format!("read {path}: {} bytes, but {limit} were asked for", chunk.len()))?;
        if chunk.is_empty() {
            return Ok(content);
        }
        content.extend(chunk);
        ensure(content.len() <= 1 << 30, || format!("read {path}: it does not end"))?;
    }
}

pub(super) fn unexpected(what: &str, path: &str, error: &WorkspaceError) -> Violation {
    Violation::new(format!("{what} {path}: {error} ({:?})", error.kind))
}

/// Returns bytes in a readable form for a message.
pub(super) fn shown(bytes: &[u8]) -> String {
    let start = String::from_utf8_lossy(bytes.get(..40).unwrap_or(bytes));
    if bytes.len() > 40 { format!("{start:?}… ({} bytes)", bytes.len()) } else { format!("{start:?}") }
}

fn outside(what: &str, path: &Path, error: &io::Error) -> Violation {
    Violation::new(format!("the fixture could not {what} {}: {error}", path.display()))
}
