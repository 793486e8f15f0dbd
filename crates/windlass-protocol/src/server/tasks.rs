//! Background work: what hosts order and ask, and the end of the input while it goes on.

use super::control::{Answer, Refusal, field};
use super::core::Core;
use super::outbox::Gone;
use super::reader::KEEP_ALIVE;
use serde_json::json;
use std::collections::VecDeque;
use std::io::SeekFrom;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use windlass_types::{EventKind, JsonText, TaskId};

/// How much of an output a host gets: its end.
const TAIL_BYTES: u64 = 8 * 1024;
/// Of how many tasks the output can be asked for.
const MOST_REMEMBERED: usize = 1_000;

/// The outputs of background work, the newest last, also of work that has ended.
#[derive(Debug, Default)]
pub(crate) struct Outputs(VecDeque<(TaskId, Option<PathBuf>)>);

impl Outputs {
    fn add(&mut self, id: TaskId, file: Option<PathBuf>) {
        if self.0.len() >= MOST_REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((id, file));
    }

    fn find(&self, id: &str) -> Option<Option<PathBuf>> {
        self.0.iter().rev().find(|(known, _)| known.as_str() == id).map(|(_, file)| file.clone())
    }
}

impl Core {
    /// Remembers work that was left behind.
    pub(crate) fn note_task(&self, kind: &EventKind) {
        if let EventKind::TaskStarted(task) = kind {
            self.lock().outputs.add(task.id.clone(), task.output_file.clone());
        }
    }

    /// Takes what the host says of itself. One that says it again is told what goes on in the background.
    pub(crate) async fn greet(&self, id: &str, body: &JsonText) -> Result<(), Gone> {
        let again = self.lock().initialize.is_some();
        let answer = self.initialize(body);
        self.reply(id, answer).await?;
        if !again {
            return Ok(());
        }
        let session_id = self.lock().session_id.clone();
        self.outbox.send(self.frames(|mapper, out| mapper.tasks_now(&session_id, out))).await
    }

    /// Stops background work. Of work that is not there nothing is said: it may just have ended.
    pub(crate) fn stop_task(&self, body: &JsonText) -> Answer {
        let id = field::<String>(body, "task_id")?.ok_or_else(|| Refusal::new("`task_id` is missing"))?;
        if let Some(handle) = self.handle() {
            // It fails only when the session is closed, and then nothing goes on.
            let _ = handle.stop_task(id.into());
        }
        Ok(Some(json!({})))
    }

    /// The end of what background work has written.
    pub(crate) async fn task_output(&self, body: &JsonText) -> Answer {
        let id = field::<String>(body, "task_id")?.ok_or_else(|| Refusal::new("`task_id` is missing"))?;
        let file = self.lock().outputs.find(&id);
        let file = file.ok_or_else(|| Refusal::new(format!("No task found with ID: {id}")))?;
        let (output, total) = match file {
            Some(file) => tail(&file).await.unwrap_or_default(),
            None => Default::default(),
        };
        Ok(Some(json!({ "output": output, "total_bytes": total, "truncated": total > TAIL_BYTES })))
    }

    /// Waits until every prompt has its result and no background work goes on, nor a
    /// run that its end began; or until background work has taken too long.
    pub(crate) async fn wait_for_the_rest(&self) -> Result<(), Gone> {
        let mut keep_alive = tokio::time::interval(KEEP_ALIVE);
        keep_alive.tick().await;
        let mut ceiling = pin!(tokio::time::sleep(self.options.background_wait.unwrap_or(Duration::MAX)));
        loop {
            while !self.is_idle() && !self.is_over() {
                tokio::select! {
                    () = self.settled.notified() => {}
                    () = self.session_over() => {}
                    _ = keep_alive.tick() => self.keep_alive().await?,
                }
            }
            let Some(handle) = self.handle().filter(|_| !self.is_over()) else { return Ok(()) };
            tokio::select! {
                // What came in the meantime is looked at once more.
                () = handle.quiet() => if self.is_idle() { return Ok(()) },
                () = &mut ceiling => return Ok(()),
                () = self.session_over() => {}
                _ = keep_alive.tick() => self.keep_alive().await?,
            }
        }
    }

    async fn keep_alive(&self) -> Result<(), Gone> {
        self.outbox.send(b"{\"type\":\"keep_alive\"}\n".to_vec()).await
    }
}

/// The end of a file, and how long all of it is.
async fn tail(path: &Path) -> std::io::Result<(String, u64)> {
    let mut file = tokio::fs::File::open(path).await?;
    let total = file.metadata().await?.len();
    let start = total.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start)).await?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).await?;
    // The first character may be cut.
    let cut =
        if start > 0 { bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count() } else { 0 };
    let whole = bytes.get(cut..).unwrap_or_default();
    Ok((String::from_utf8_lossy(whole).into_owned(), total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_outputs_are_remembered_as_fit() {
        let mut outputs = Outputs::default();
        for n in 0..=MOST_REMEMBERED {
            outputs.add(format!("b{n}").into(), Some(n.to_string().into()));
        }
        assert_eq!(outputs.find("b0"), None);
        assert_eq!(outputs.find("b1"), Some(Some("1".into())));
        assert_eq!(outputs.0.len(), MOST_REMEMBERED);
    }
}
