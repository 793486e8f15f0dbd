//! Last output and exit of a program.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Number of kept bytes of the last output on standard error.
const TAIL: usize = 4096;

/// Exit of a program and its last output on standard error, for error texts. Clones refer to the same program.
#[derive(Debug, Clone, Default)]
pub struct LastWords(Arc<Mutex<Words>>);

#[derive(Debug, Default)]
struct Words {
    stderr: VecDeque<u8>,
    exit: Option<String>,
}

impl LastWords {
    /// Last 4 KiB of the standard error, without blanks around them; invalid UTF-8 is replaced. They may hold secrets
    /// that the program was given.
    pub fn stderr(&self) -> String {
        let bytes: Vec<u8> = self.words().stderr.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// Exit in words, such as `it ended with exit status: 1`. `None` while the program runs, and when it was ended from
    /// here.
    pub fn exit(&self) -> Option<String> {
        self.words().exit.clone()
    }

    pub(crate) fn note_exit(&self, status: io::Result<ExitStatus>) {
        let text = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        self.words().exit = Some(format!("it ended with {text}"));
    }

    /// Reads to the end of a stream.
    pub(crate) async fn drain(self, mut stderr: impl AsyncRead + Unpin) {
        let mut bytes = vec![0; 8 * 1024];
        while let Ok(count) = stderr.read(&mut bytes).await {
            match bytes.get(..count) {
                Some(read) if count > 0 => self.note(read),
                _ => return,
            }
        }
    }

    fn note(&self, bytes: &[u8]) {
        let tail = &mut self.words().stderr;
        tail.extend(bytes.iter().skip(bytes.len().saturating_sub(TAIL)));
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
    }

    fn words(&self) -> MutexGuard<'_, Words> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn they_are_bounded_and_readable() {
        let words = LastWords::default();
        let written = ["x".repeat(3 * TAIL), "…and then it failed\n".to_owned()].concat();
        words.clone().drain(written.as_bytes()).await;
        let text = words.stderr();
        assert!(text.starts_with('x') && text.ends_with("…and then it failed"), "{text}");
        assert_eq!(text.len(), TAIL - 1);
        assert_eq!(words.exit(), None);
    }
}
