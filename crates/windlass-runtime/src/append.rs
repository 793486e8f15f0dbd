//! The log writer: entries in the order in which the machine gave them.

use futures_util::FutureExt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_core::{EffectId, Input, StoreFailure};
use windlass_session::{Durability, Lease, SessionStore};
use windlass_types::Entry;

/// Entries to append, for one effect.
#[derive(Debug)]
pub(crate) struct Appending {
    pub(crate) effect: EffectId,
    pub(crate) entries: Vec<Entry>,
    pub(crate) durable: bool,
}

/// Where a session's entries go.
#[derive(Debug)]
pub(crate) enum Log {
    /// To a store, through a task of its own.
    Store(mpsc::UnboundedSender<Appending>),
    /// Nowhere: the session is not kept.
    Nowhere,
}

/// Where a log continues.
#[derive(Debug, Default)]
pub(crate) struct Begin {
    /// Its position.
    pub(crate) seq: u64,
    /// What goes before the first entries. Without any, it is not written either.
    pub(crate) first: Vec<Entry>,
}

/// After how long the machine hears that the store is silent, again and again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits for an answer of the store, and reports how long it has been silent.
async fn with_patience<T>(answer: impl Future<Output = T>, inputs: &mpsc::UnboundedSender<Input>) -> T {
    let mut answer = pin!(answer);
    let mut silence = Duration::ZERO;
    loop {
        if let Ok(answer) = tokio::time::timeout(PATIENCE, &mut answer).await {
            return answer;
        }
        silence = silence.saturating_add(PATIENCE);
        // A send fails only when the session has ended.
        let _ = inputs.send(Input::LogSilent(silence));
    }
}

/// Appends entries until the sender is dropped or the store refuses, then gives
/// the lease back. What waits is written together, with one sync.
pub(crate) async fn write_log(
    store: Arc<dyn SessionStore>,
    lease: Lease,
    Begin { mut seq, mut first }: Begin,
    mut waiting: mpsc::UnboundedReceiver<Appending>,
    inputs: mpsc::UnboundedSender<Input>,
) {
    while let Some(next) = waiting.recv().await {
        let mut effects = vec![next.effect];
        let mut entries = std::mem::take(&mut first);
        entries.extend(next.entries);
        let mut durable = next.durable;
        while let Ok(next) = waiting.try_recv() {
            effects.push(next.effect);
            entries.extend(next.entries);
            durable |= next.durable;
        }
        let durability = if durable { Durability::Durable } else { Durability::Buffered };
        let appending = AssertUnwindSafe(store.append(&lease, seq, entries, durability)).catch_unwind();
        let result = with_patience(appending, &inputs).await;
        let answer = match result {
            Ok(Ok(now)) => {
                seq = now;
                Ok(())
            }
            Ok(Err(error)) => Err(StoreFailure::new(error.to_string())),
            Err(_) => Err(StoreFailure::new("the session store panicked; this is a bug in the store")),
        };
        let failed = answer.is_err();
        for effect in effects {
            // A send fails only when the session has ended.
            let _ = inputs.send(Input::Appended(effect, answer.clone()));
        }
        if failed {
            break;
        }
    }
    // What was acknowledged is durable already, and a failure here could not be reported any more.
    let _ = AssertUnwindSafe(store.close(lease)).catch_unwind().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_core::{Effect, Machine, MachineConfig, ModelProfile, Output, Prompt};
    use windlass_permission::{Policy, PolicyConfig};
    use windlass_session::{LogHeader, MemoryStore, Owner, ProjectKey, SessionKey};
    use windlass_types::{ModelInfo, SessionId, Timestamp};

    /// The first append of a run.
    fn first_append() -> (EffectId, Vec<Entry>) {
        let model = ModelProfile::new("m", ModelInfo::new(1_000, 1_000));
        let policy = Policy::new(PolicyConfig::new("/w"));
        let config = MachineConfig::new(SessionId::from("s"), 1, model, policy, "/w".into());
        let mut machine = Machine::new(config, &[]);
        machine.handle(Timestamp::default(), Input::Prompt(Prompt::text("hello"))).unwrap();
        loop {
            if let Output::Effect(effect, Effect::Append { entries, .. }) = machine.poll().unwrap() {
                return (effect, entries);
            }
        }
    }

    /// Writes what waits together, and returns the log.
    async fn written(grades: &[bool]) -> String {
        let store = MemoryStore::new();
        let key = SessionKey::new(ProjectKey::from_slug("p"), SessionId::from("s"));
        let lease = store.open(&key, &Owner::new(1, "test"), LogHeader::new("/w", "0", "test")).await.unwrap();
        let (log, waiting) = mpsc::unbounded_channel();
        let (effect, entries) = first_append();
        for durable in grades {
            log.send(Appending { effect, entries: entries.clone(), durable: *durable }).unwrap();
        }
        drop(log);
        let (inputs, mut answers) = mpsc::unbounded_channel();
        write_log(Arc::new(store.clone()), lease, Begin::default(), waiting, inputs).await;
        for _ in grades {
            assert!(matches!(answers.recv().await, Some(Input::Appended(_, Ok(())))));
        }
        String::from_utf8(store.log(&key).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn one_durable_append_makes_all_that_waits_durable() {
        let buffered = written(&[false, false]).await;
        for grades in [[false, true], [true, false]] {
            // The checksum of a synced batch is a line of its own.
            assert_eq!(written(&grades).await.lines().count(), buffered.lines().count() + 1);
        }
    }
}
