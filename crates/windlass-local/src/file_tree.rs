//! [`FileTree`] of this machine: whole files that checkpoints store and restore.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use windlass_tool::content_swap::ContentChanged;
use windlass_tool::{FileContent, FileTree, TreeSurvey, WholeFile, WorkspaceError};

use crate::drop_flag::DropFlag;
use crate::survey::{Extent, Wanted, survey};
use crate::workspace::TemporaryFiles;
use crate::workspace::dir::{self, Dir, link_error};
use crate::workspace::entry::{Entry, Missing};
use crate::workspace::local::{LocalWorkspace, named, off_thread};
use crate::workspace::replace::{Expect, NotRegular, Place, compare_and_remove, replace_with_mode};

/// Minimum size of a file, in bytes, whose open handle is returned with its content.
const MIN_SHARED_BYTES: u64 = 256 * 1024;

#[async_trait]
impl FileTree for LocalWorkspace {
    async fn read_whole(&self, path: &Path, limit: u64) -> Result<WholeFile, WorkspaceError> {
        let path = path.to_owned();
        off_thread(move || read_whole(&path, limit).map_err(|error| named(error, &path))).await
    }

    async fn put_whole(&self, path: &Path, content: &[u8], mode: Option<u32>) -> Result<(), WorkspaceError> {
        let (path, content, list) = (path.to_owned(), content.to_vec(), self.temporary.clone());
        off_thread(move || {
            put_whole(&path, &content, (mode, Expect::Any), list.as_ref()).map_err(|error| named(error, &path))
        })
        .await
    }

    async fn compare_and_put(
        &self,
        path: &Path,
        expected: Option<&[u8]>,
        content: &[u8],
        mode: Option<u32>,
    ) -> Result<(), WorkspaceError> {
        let (path, content, list) = (path.to_owned(), content.to_vec(), self.temporary.clone());
        let expected = expected.map(<[u8]>::to_vec);
        off_thread(move || {
            let expect = expected.as_deref().map_or(Expect::Absent, Expect::Content);
            put_whole(&path, &content, (mode, expect), list.as_ref()).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => WorkspaceError::content_changed(&path),
                _ => named(error, &path),
            })
        })
        .await
    }

    async fn compare_and_remove(&self, path: &Path, expected: &[u8], parents: u32) -> Result<(), WorkspaceError> {
        let (path, expected, list) = (path.to_owned(), expected.to_vec(), self.temporary.clone());
        off_thread(move || remove(&path, parents, Some(&expected), list.as_ref()).map_err(|error| named(error, &path)))
            .await
    }

    async fn remove(&self, path: &Path, parents: u32) -> Result<(), WorkspaceError> {
        let path = path.to_owned();
        off_thread(move || remove(&path, parents, None, None).map_err(|error| named(error, &path))).await
    }

    async fn read_each(&self, paths: Vec<PathBuf>, limit: u64) -> Vec<Result<WholeFile, WorkspaceError>> {
        let count = paths.len();
        let read_one = move |path: &PathBuf| read_whole(path, limit).map_err(|error| named(error, path));
        match off_thread(move || Ok(paths.iter().map(read_one).collect())).await {
            Ok(files) => files,
            Err(error) => {
                let same_error = || WorkspaceError::new(error.kind, error.message.clone());
                (0..count).map(|_| Err(same_error())).collect()
            }
        }
    }

    async fn survey(
        &self,
        root: &Path,
        before: Option<Arc<TreeSurvey>>,
        most: usize,
    ) -> Result<TreeSurvey, WorkspaceError> {
        survey_tree(root, before, most, Extent::Whole).await
    }

    async fn survey_reported(
        &self,
        root: &Path,
        before: Arc<TreeSurvey>,
        most: usize,
    ) -> Result<TreeSurvey, WorkspaceError> {
        survey_tree(root, Some(before), most, Extent::Reported).await
    }
}

async fn survey_tree(
    root: &Path,
    before: Option<Arc<TreeSurvey>>,
    most: usize,
    extent: Extent,
) -> Result<TreeSurvey, WorkspaceError> {
    let root = root.to_owned();
    let drop_flag = DropFlag::default();
    let cancelled = drop_flag.flag();
    off_thread(move || {
        let request = Wanted { root: &root, before: before.as_deref(), most, extent, cancelled: &cancelled };
        survey(request).map_err(|error| named(error, &root))
    })
    .await
}

fn read_whole(path: &Path, limit: u64) -> io::Result<WholeFile> {
    let file = match dir::open_file(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(WholeFile::Absent { missing_parents: missing_parents(path)? });
        }
        Err(error) => return Err(error),
    };
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !meta.is_file() {
        return Err(io::Error::other(NotRegular));
    }
    if meta.len() > limit {
        return Ok(WholeFile::TooLarge { size: meta.len() });
    }
    let mut content = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
    // The file may grow meanwhile.
    (&file).take(limit.saturating_add(1)).read_to_end(&mut content)?;
    let size = content.len() as u64;
    if size > limit {
        return Ok(WholeFile::TooLarge { size });
    }
    let (mode, names) = rights(&file)?;
    let whole = FileContent::new(content, mode).with_names(names);
    // Copying a small file is quicker than sharing its handle.
    Ok(WholeFile::File(if size >= MIN_SHARED_BYTES { whole.with_file(file) } else { whole }))
}

/// Number of missing directories above a missing file.
fn missing_parents(path: &Path) -> io::Result<u32> {
    let mut missing = 0;
    for parent in path.ancestors().skip(1) {
        match Dir::open_for_lookup(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing += 1,
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    Ok(missing)
}

#[cfg(unix)]
fn rights(file: &File) -> io::Result<(Option<u32>, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = file.metadata()?;
    Ok((Some(meta.mode() & 0o7777), meta.nlink()))
}

#[cfg(not(unix))]
fn rights(_: &File) -> io::Result<(Option<u32>, u64)> {
    Ok((None, 1))
}

fn put_whole(
    path: &Path,
    content: &[u8],
    (mode, expect): (Option<u32>, Expect<'_>),
    list: Option<&TemporaryFiles>,
) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::IsADirectory.into());
    };
    let dir = Dir::open(parent, Missing::Create)?;
    replace_with_mode(Place::new(&dir, parent, list), name, content, expect, mode).map(drop)
}

fn remove(path: &Path, parents: u32, expected: Option<&[u8]>, list: Option<&TemporaryFiles>) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::IsADirectory.into());
    };
    let dir = match Dir::open(parent, Missing::Refuse) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && expected.is_none() => return Ok(()),
        opened => opened?,
    };
    match (dir.status(name)?.map(|status| status.entry), expected) {
        (None, None) => return Ok(()),
        (None, Some(_)) => return Err(ContentChanged.into()),
        (Some(Entry::File), None) => dir.remove(name)?,
        (Some(Entry::File), Some(expected)) => compare_and_remove(Place::new(&dir, parent, list), name, expected)?,
        (Some(Entry::Link), _) => return Err(link_error()),
        (Some(Entry::Directory), _) => return Err(io::ErrorKind::IsADirectory.into()),
        (Some(Entry::Special), _) => return Err(io::Error::other(NotRegular)),
    }
    dir.sync()?;
    let take = usize::try_from(parents).unwrap_or(usize::MAX);
    for emptied in path.ancestors().skip(1).take(take) {
        let (Some(above), Some(name)) = (emptied.parent(), emptied.file_name()) else { break };
        // The loop usually ends at a folder that is not empty. Other errors are ignored too, because the file is gone.
        let removed = Dir::open(above, Missing::Refuse).and_then(|above| above.remove_empty(name));
        if removed.is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
