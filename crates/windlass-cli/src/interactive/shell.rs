//! Shell commands of the user.

use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use windlass_terminal::app::CommandOutput;

/// Maximum number of kept bytes of the output: the beginning.
const MOST: usize = 256 * 1024;

/// Runs a command in the user's shell. Dropping the future ends it, with all in its process group.
pub(super) async fn run(command: &str, cwd: &Path) -> CommandOutput {
    match start(command, cwd).await {
        Ok(output) => output,
        Err(error) => CommandOutput { text: format!("The command could not be started: {error}"), code: None },
    }
}

async fn start(command: &str, cwd: &Path) -> std::io::Result<CommandOutput> {
    let (reader, writer) = std::io::pipe()?;
    let shell = std::env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned());
    let mut program = Command::new(shell);
    program.arg("-c").arg(command).current_dir(cwd).stdin(Stdio::null()).kill_on_drop(true);
    program.stdout(writer.try_clone()?).stderr(writer);
    #[cfg(unix)]
    program.process_group(0);
    let mut child = program.spawn()?;
    // The writers of this process would keep the pipe open.
    drop(program);
    let group = Group(child.id());
    let (text, status) = tokio::join!(read(reader), child.wait());
    std::mem::forget(group);
    Ok(CommandOutput { text: text?, code: status?.code() })
}

/// Reads all of a pipe, and keeps the beginning.
async fn read(reader: std::io::PipeReader) -> std::io::Result<String> {
    #[cfg(unix)]
    let mut reader = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())?;
    #[cfg(not(unix))]
    let mut reader = tokio::fs::File::from_std(std::fs::File::from(std::os::windows::io::OwnedHandle::from(reader)));
    kept(&mut reader).await
}

async fn kept(reader: &mut (impl AsyncRead + Unpin)) -> std::io::Result<String> {
    let (mut kept, mut left_out, mut buffer) = (Vec::new(), 0_u64, [0; 8192]);
    loop {
        let count = reader.read(&mut buffer).await?;
        if count == 0 {
            break;
        }
        let read = buffer.get(..count).unwrap_or_default();
        let room = MOST.saturating_sub(kept.len()).min(read.len());
        kept.extend_from_slice(read.get(..room).unwrap_or_default());
        left_out += (read.len() - room) as u64;
    }
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if left_out > 0 {
        text.push_str(&format!("\n[{left_out} more bytes are left out]"));
    }
    Ok(text)
}

/// The process group of a command, which ends when this is dropped.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw) {
            // A group that is gone needs no end.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_keeps_its_order_and_its_bound() {
        let here = std::env::temp_dir();
        let output = run("echo one; echo two >&2; exit 3", &here).await;
        assert_eq!((output.text.as_str(), output.code), ("one\ntwo\n", Some(3)));
        let output = run("head -c 1000000 /dev/zero | tr '\\0' x", &here).await;
        assert!(output.text.len() < MOST + 100 && output.text.contains("more bytes are left out"));
    }

    #[tokio::test]
    async fn a_dropped_command_ends_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("alive");
        let command = format!("(while :; do date +%N > {0}; sleep 0.02; done) & wait", file.display());
        let running = tokio::time::timeout(std::time::Duration::from_millis(400), run(&command, folder.path())).await;
        assert!(running.is_err());
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        let before = std::fs::read(&file).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        assert_eq!(before, std::fs::read(&file).unwrap());
    }
}
