//! Files that are being read.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use windlass_tool::{FileInfo, OpenFile, WorkspaceError};
use windlass_types::Timestamp;

use crate::connection::{Link, Shell};
use crate::error::{lost, refused};
use crate::quote::call;
use crate::workspace::parted;

/// Maximum number of bytes that one read returns.
const MAX_READ: usize = 1024 * 1024;
/// Maximum size in bytes of files that are transferred as a whole when they are opened.
const WHOLE: u64 = 256 * 1024;

/// An opened file.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: RemoteFile,
    /// Permissions, without the kind of the file.
    pub(crate) mode: u32,
    /// Number of the file's names.
    pub(crate) names: u64,
}

/// Opens the file at a place that has no link in it.
pub(crate) async fn open(link: &Arc<Link>, place: &Path, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
    Ok(Box::new(open_at(link, place, path).await?.file))
}

/// Opens the file, with all known facts about it.
pub(crate) async fn open_at(link: &Arc<Link>, place: &Path, path: &Path) -> Result<Opened, WorkspaceError> {
    let (folder, name) = parted(place, path)?;
    // The file and its first bytes in one request.
    let mut request = call("grab", [folder, name]);
    request.extend_from_slice(format!(" && more {WHOLE}").as_bytes());
    let (shell, answer) = link.look_and_hold(&request).await.map_err(|error| lost(error, path, false))?;
    if answer.code != 0 {
        link.give_back(shell);
        return Err(refused(answer.code, path, &answer.body));
    }
    let end = answer.body.iter().position(|byte| *byte == b'\n').unwrap_or_default();
    let (about, first) = answer.body.split_at_checked(end).unwrap_or_default();
    let Some((info, mode, names)) = about_file(about) else {
        return Err(refused(20, path, b"the answer says nothing of the file"));
    };
    let first = first.get(1..).unwrap_or_default().to_vec();
    let is_whole = (first.len() as u64) < WHOLE;
    let mut file = RemoteFile {
        link: Arc::clone(link),
        shell: Some(shell),
        path: path.into(),
        info,
        first,
        taken: 0,
        broken: false,
    };
    if is_whole {
        file.close().await?;
    }
    Ok(Opened { file, mode, names })
}

/// Size, time of change in seconds, mode in octal digits, and number of names.
fn about_file(about: &[u8]) -> Option<(FileInfo, u32, u64)> {
    let text = std::str::from_utf8(about).ok()?;
    let mut words = text.split(' ');
    let size = words.next()?.parse().ok()?;
    let modified = words.next()?.parse::<i64>().ok()?;
    let mode = u32::from_str_radix(words.next()?, 8).ok()?;
    let names = words.next()?.parse().ok()?;
    let modified = u64::try_from(modified).ok().map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)));
    Some((FileInfo::new(size, modified, mode & 0o111 != 0).with_names(names), mode & 0o7777, names))
}

/// An open file: its first bytes, and a shell that holds it if there are more.
#[derive(Debug)]
pub(crate) struct RemoteFile {
    link: Arc<Link>,
    shell: Option<Shell>,
    path: Box<Path>,
    info: FileInfo,
    first: Vec<u8>,
    taken: usize,
    /// `true` after a failed or dropped read: the position is unknown.
    broken: bool,
}

impl RemoteFile {
    /// Releases the file, so that others can use the shell. Dropping a file instead ends its shell.
    async fn close(&mut self) -> Result<(), WorkspaceError> {
        let Some(mut shell) = self.shell.take() else { return Ok(()) };
        shell.ask(b"exec 9<&-", None).await.map_err(|error| lost(error, &self.path, false))?;
        self.link.give_back(shell);
        Ok(())
    }
}

#[async_trait]
impl OpenFile for RemoteFile {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        let limit = limit.min(MAX_READ);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let left = self.first.get(self.taken..).unwrap_or_default();
        if !left.is_empty() {
            let part = left.get(..limit).unwrap_or(left).to_vec();
            self.taken = self.taken.saturating_add(part.len());
            return Ok(part);
        }
        if self.broken {
            return Err(lost(self.link.lost("an earlier read broke off"), &self.path, false));
        }
        // A shell dropped in the middle of an answer is not used again.
        let Some(mut shell) = self.shell.take() else { return Ok(Vec::new()) };
        self.broken = true;
        let asked = shell.ask(format!("more {limit}").as_bytes(), None).await;
        let answer = asked.map_err(|error| lost(error, &self.path, false))?;
        (self.shell, self.broken) = (Some(shell), false);
        if answer.code != 0 {
            return Err(refused(20, &self.path, b"it could not be read"));
        }
        if answer.body.is_empty() {
            self.close().await?;
        }
        Ok(answer.body)
    }
}
