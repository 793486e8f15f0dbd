//! Files of the remote side.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use windlass_tool::{
    DirectoryEntry, EditOrder, EntryKind, JudgedPath, OpenFile, Permit, ResolvedPath, Workspace, WorkspaceError,
    WorkspaceErrorKind, WriteOptions,
};

use crate::answer::Answer;
use crate::connection::Link;
use crate::error::{lost, not_permitted, refused};
use crate::open_file;
use crate::quote::apart;

/// Offset of the codes of `move` for the new name.
const NEW_NAME: i32 = 40;

/// Files of a container or another machine, with the rights of its account. Made by
/// [`Remote::workspace`](crate::Remote::workspace).
///
/// Permitted paths are reached without following a link, as with local files; see the [crate](crate) for the
/// guarantees. A large open file occupies a connection.
#[derive(Debug, Clone)]
pub struct RemoteWorkspace {
    pub(crate) link: Arc<Link>,
}

impl RemoteWorkspace {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { link }
    }

    /// Sends a read-only request.
    pub(crate) async fn look(&self, request: &[u8], path: &Path) -> Result<Answer, WorkspaceError> {
        let answer = self.link.look(request).await.map_err(|error| lost(error, path, false))?;
        if answer.code == 0 { Ok(answer) } else { Err(refused(answer.code, path, &answer.body)) }
    }

    /// Sends a change request.
    pub(crate) async fn change(
        &self,
        request: &[u8],
        content: Option<&[u8]>,
        path: &Path,
    ) -> Result<(), WorkspaceError> {
        let answer = self.link.change(request, content).await.map_err(|error| lost(error, path, true))?;
        if answer.code == 0 { Ok(()) } else { Err(refused(answer.code, path, &answer.body)) }
    }

    /// Permitted place for reading or listing `path`, free of links when judged.
    async fn place(&self, judged: &JudgedPath, permit: &Permit, path: &Path) -> Result<PathBuf, WorkspaceError> {
        let place = if judged.requested == path {
            judged.resolved.clone()
        } else {
            // Below a judged tree, links inside it may be used as long as they stay inside.
            let place = self.resolve(path).await?.path;
            if !place.starts_with(&judged.resolved) {
                return Err(not_permitted(path));
            }
            place
        };
        if permit.allows(&place) { Ok(place) } else { Err(not_permitted(path)) }
    }

    /// Removes a file. `digest`: that of the required content, or empty.
    async fn discard(&self, permit: &Permit, path: &Path, digest: &str) -> Result<(), WorkspaceError> {
        let place = permit.writable(path).ok_or_else(|| not_permitted(path))?.resolved.clone();
        let (folder, name) = parted(&place, path)?;
        self.change(&apart("discard", [folder, name, digest.as_bytes()]), None, path).await
    }

    /// Writes a file at a place without links.
    pub(crate) async fn put(
        &self,
        place: &Path,
        path: &Path,
        content: &[u8],
        how: Put<'_>,
    ) -> Result<(), WorkspaceError> {
        let (folder, name) = parted(place, path)?;
        let flag = |on: bool| if on { b"1".as_slice() } else { b"0" };
        let size = content.len().to_string();
        let temporary = format!(".windlass-{:032x}.tmp", self.link.ids.bits());
        let expected = how.expected.map(digest).unwrap_or_default();
        let words = [
            folder,
            name,
            size.as_bytes(),
            flag(how.make),
            flag(how.only_new),
            how.mode.as_bytes(),
            temporary.as_bytes(),
            expected.as_bytes(),
        ];
        self.change(&apart("put", words), Some(content), path).await
    }
}

/// Options of a write.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Put<'a> {
    pub(crate) make: bool,
    pub(crate) only_new: bool,
    /// Mode in octal digits; empty for that of the old file, or the usual one.
    pub(crate) mode: &'a str,
    /// Content that is replaced; `None` for any.
    pub(crate) expected: Option<&'a [u8]>,
}

#[async_trait]
impl Workspace for RemoteWorkspace {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        if !path.has_root() {
            return Err(refused(20, path, b"it is not an absolute path"));
        }
        let answer = self.look(&apart("resolve", [bytes(path)?]), path).await?;
        let mut parts = answer.parts();
        let (kind, real) = (parts.pop().unwrap_or_default(), parts.pop().unwrap_or_default());
        if !real.starts_with(b"/") {
            return Err(refused(20, path, b"the answer names no path"));
        }
        // The path after the last link is the path itself.
        parts.pop();
        let via = parts.into_iter().map(|hop| PathBuf::from(os_string(hop))).collect();
        Ok(ResolvedPath::new(os_string(real), entry_kind(kind.first().copied())).with_via(via))
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        let judged = permit.readable(path).ok_or_else(|| not_permitted(path))?;
        let place = self.place(judged, permit, path).await?;
        open_file::open(&self.link, &place, path).await
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let place = permit.writable(path).ok_or_else(|| not_permitted(path))?.resolved.clone();
        let how = Put { make: options.create_directories, only_new: options.must_be_new, ..Put::default() };
        self.put(&place, path, content, how).await
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        let place = permit.writable(path).ok_or_else(|| not_permitted(path))?.resolved.clone();
        self.put(&place, path, content, Put { expected: Some(expected), ..Put::default() }).await
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        self.discard(permit, path, &digest(expected)).await
    }

    fn edit_order(&self) -> Option<&EditOrder> {
        Some(&self.link.order)
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        self.discard(permit, path, "").await
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let old = permit.writable(from).ok_or_else(|| not_permitted(from))?.resolved.clone();
        let new = permit.writable(to).ok_or_else(|| not_permitted(to))?.resolved.clone();
        let ((folder, name), (new_folder, new_name)) = (parted(&old, from)?, parted(&new, to)?);
        let make = if options.create_directories { b"1" } else { b"0" };
        let request = apart("move", [folder, name, new_folder, new_name, make]);
        let answer = self.link.change(&request, None).await.map_err(|error| lost(error, from, true))?;
        match answer.code {
            0 => Ok(()),
            code if code > NEW_NAME => Err(refused(code.saturating_sub(NEW_NAME), to, &answer.body)),
            code => Err(refused(code, from, &answer.body)),
        }
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        let judged = permit.listable(path).ok_or_else(|| not_permitted(path))?;
        let place = self.place(judged, permit, path).await?;
        let filter = permit.filter();
        // With a filter, the number of names needed for the limit is unknown.
        let most = if filter.is_some() { usize::MAX } else { limit };
        let entries = self.entries(&place, most).await.map_err(|error| renamed(error, &place, path))?;
        let names = entries.into_iter().map(|entry| entry.name);
        let allowed = names.filter(|name| filter.as_ref().is_none_or(|allowed| allowed(&place.join(name))));
        Ok(allowed.take(limit).map(|name| name.to_string_lossy().into_owned()).collect())
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        let most = limit.min(i32::MAX as usize).to_string();
        let answer = self.look(&apart("entries", [bytes(directory)?, most.as_bytes()]), directory).await?;
        let entry = |part: &[u8]| {
            let (kind, name) = part.split_first()?;
            Some(DirectoryEntry::new(os_string(name), entry_kind(Some(*kind))))
        };
        Ok(answer.parts().into_iter().filter_map(entry).collect())
    }

    fn is_local(&self) -> bool {
        false
    }
}

/// The same error about another name of the place.
fn renamed(error: WorkspaceError, place: &Path, path: &Path) -> WorkspaceError {
    if place == path {
        return error;
    }
    let message = error.message.replace(&place.display().to_string(), &path.display().to_string());
    WorkspaceError::new(error.kind, message).with_source(error)
}

/// Digest of a content in the format of `sha256sum`, with which the remote side compares.
fn digest(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn entry_kind(letter: Option<u8>) -> EntryKind {
    match letter {
        Some(b'f') => EntryKind::File,
        Some(b'd') => EntryKind::Directory,
        Some(b'l') => EntryKind::Link,
        Some(b's') => EntryKind::Special,
        _ => EntryKind::Missing,
    }
}

/// Folder and name of a file's place, in remote bytes.
pub(crate) fn parted<'a>(place: &'a Path, path: &Path) -> Result<(&'a [u8], &'a [u8]), WorkspaceError> {
    match (place.parent(), place.file_name()) {
        (Some(folder), Some(name)) => Ok((bytes(folder)?, bytes(Path::new(name))?)),
        _ => Err(refused(12, path, b"")),
    }
}

/// Path in remote bytes.
pub(crate) fn bytes(path: &Path) -> Result<&[u8], WorkspaceError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) {
        let message = format!("{} contains a NUL byte, which no path does", path.display());
        return Err(WorkspaceError::new(WorkspaceErrorKind::Other, message));
    }
    Ok(bytes)
}

/// Name from remote bytes.
#[cfg(unix)]
pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;
    OsStr::from_bytes(bytes).to_owned()
}

/// Name from remote bytes. One that is not UTF-8 cannot be represented here, and is not found again.
#[cfg(not(unix))]
pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    OsStr::new(String::from_utf8_lossy(bytes).as_ref()).to_owned()
}
