//! Results that are too large for the model.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_tool::Ids;
use windlass_types::{ContentBlock, ToolResultContent};

/// Cuts the texts of a result to a number of bytes together. The middle is left
/// out and the whole is kept as an artifact, if there is a place for it.
pub(crate) async fn fit(
    content: ToolResultContent,
    most: usize,
    artifacts: Option<&Path>,
    ids: &dyn Ids,
) -> ToolResultContent {
    match content {
        ToolResultContent::Text(text) if text.len() <= most => ToolResultContent::Text(text),
        ToolResultContent::Text(text) => ToolResultContent::Text(cut(text, most, artifacts, ids).await),
        ToolResultContent::Blocks(blocks) => {
            let mut left = most;
            let mut fitted = Vec::with_capacity(blocks.len());
            for block in blocks {
                fitted.push(match block {
                    ContentBlock::Text { text } if text.len() > left => {
                        let text = cut(text, left, artifacts, ids).await;
                        left = 0;
                        ContentBlock::Text { text }
                    }
                    ContentBlock::Text { text } => {
                        left -= text.len();
                        ContentBlock::Text { text }
                    }
                    other => other,
                });
            }
            ToolResultContent::Blocks(fitted)
        }
    }
}

async fn cut(text: String, most: usize, artifacts: Option<&Path>, ids: &dyn Ids) -> String {
    let text = Arc::new(text);
    let kept = match artifacts {
        Some(directory) => keep(directory, Arc::clone(&text), ids).await,
        None => None,
    };
    let boundary = |at: usize| text.is_char_boundary(at);
    let head = (0..=most / 2).rev().find(|at| boundary(*at)).unwrap_or_default();
    let tail =
        (text.len().saturating_sub(most / 2)..=text.len()).find(|at| boundary(*at)).unwrap_or(text.len()).max(head);
    let (head_text, rest) = text.split_at_checked(head).unwrap_or((&text, ""));
    let tail_text = rest.get(tail - head..).unwrap_or_default();
    let whole = match kept {
        Some(path) => {
            format!(" The whole is in {}: read the part you need with Read or search it with Grep.", path.display())
        }
        None => " Ask for less, or for a part of it.".to_owned(),
    };
    format!("{head_text}\n[… {} bytes left out here.{whole} …]\n{tail_text}", tail - head)
}

/// Writes a text to a new private file, durable with its name: the result that names it is durable too. Where that
/// fails, the model is not told of a file.
async fn keep(directory: &Path, text: Arc<String>, ids: &dyn Ids) -> Option<PathBuf> {
    let path = directory.join(format!("result-{:032x}.txt", ids.bits()));
    let written = tokio::task::spawn_blocking(move || write(&path, &text).map(|()| path));
    match written.await {
        Ok(Ok(path)) => Some(path),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a large result is not kept");
            None
        }
        Err(_) => None,
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).and_then(|()| sync_names(folder));
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// Makes the names in a folder of artifacts durable, and that of the folder: it stands in one of the session, which
/// may be new as well.
fn sync_names(folder: &Path) -> io::Result<()> {
    // Directories cannot be opened for this on other systems.
    if cfg!(unix) {
        for folder in folder.ancestors().take(3).filter(|folder| !folder.as_os_str().is_empty()) {
            fs::File::open(folder)?.sync_all()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct One;

    impl Ids for One {
        fn bits(&self) -> u128 {
            1
        }
    }

    #[tokio::test]
    async fn long_results_keep_head_and_tail_on_character_boundaries() {
        let text = "é".repeat(1_000);
        for most in [0, 1, 2, 3, 100, 101, 1_999] {
            let ToolResultContent::Text(fitted) = fit(text.clone().into(), most, None, &One).await else { panic!() };
            assert!(fitted.contains("left out"), "{most}");
            assert!(fitted.len() <= most + 120);
        }
        assert_eq!(fit(text.clone().into(), 2_000, None, &One).await, text.into());
    }

    #[tokio::test]
    async fn the_whole_is_kept_privately() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("tool-results");
        let text = "x".repeat(10_000);
        let ToolResultContent::Text(fitted) = fit(text.clone().into(), 100, Some(&place), &One).await else { panic!() };
        let kept = std::fs::read_dir(&place).unwrap().next().unwrap().unwrap();
        assert!(fitted.contains(&*kept.path().to_string_lossy()));
        assert_eq!(std::fs::read_to_string(kept.path()).unwrap(), text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    /// The result that names the file is durable, so the file and the names on the way to it must be.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_whole_is_durable_before_it_is_named() {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let traced = std::process::Command::new("strace")
            .args(["-f", "-y", "-e", "trace=fsync,fdatasync", "-o"])
            .arg(trace.path())
            .arg(std::env::current_exe().unwrap())
            .args(["artifact::tests::the_whole_is_kept_privately", "--exact"])
            .output();
        if !traced.is_ok_and(|traced| traced.status.success()) {
            println!("SKIPPED: strace is not here or may not trace");
            return;
        }
        let calls = std::fs::read_to_string(trace.path()).unwrap();
        let synced = |end: &str| calls.lines().any(|line| line.contains(&format!("{end}>) ")) && line.ends_with("= 0"));
        assert!(synced("/tool-results/result-00000000000000000000000000000001.txt"), "{calls}");
        assert!(synced("/tool-results"), "{calls}");
        let folder = std::env::temp_dir().canonicalize().unwrap();
        assert!(synced(&folder.to_string_lossy()), "{calls}");
    }
}
