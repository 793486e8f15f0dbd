//! A store of your own: sessions as objects in a bucket. The bucket is a map here; a real one is a service.
//!
//! windlass makes and reads the lines of a session, so every store keeps the same format.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass::store::{
    AgentHeader, AgentSummary, Durability, Lease, Loaded, LogEncoder, LogHeader, Owner, ProjectKey, SUMMARY_BYTES,
    SessionKey, StoreError, StoreErrorKind, read_agent_log, read_log, summarize,
};
use windlass::store::{Entry, Timestamp};
use windlass::{Script, ScriptedModel, async_trait, query, session::SessionSummary, store::SessionStore};

/// One session in the bucket.
#[derive(Debug, Default, Clone)]
struct Object {
    lines: Vec<u8>,
    /// Number of appended entries.
    seq: u64,
    changed: Timestamp,
    /// Header of the agent, if the log is that of an agent below the main one.
    agent: Option<Arc<AgentHeader>>,
}

#[derive(Debug, Clone, Default)]
pub struct Bucket {
    objects: Arc<Mutex<BTreeMap<SessionKey, Object>>>,
    leases: Arc<Mutex<HashMap<SessionKey, (u64, Owner)>>>,
    last_lease: Arc<Mutex<u64>>,
}

/// Encoder of the session's lines, held by the lease. Dropping it releases the session.
struct Writer {
    bucket: Bucket,
    key: SessionKey,
    agent: Option<Arc<AgentHeader>>,
    encoder: Mutex<LogEncoder>,
}

impl Drop for Writer {
    fn drop(&mut self) {
        locked(&self.bucket.leases).remove(&self.key);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl SessionStore for Bucket {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        key.check_agent()?;
        let mut leases = locked(&self.leases);
        if let Some((_, owner)) = leases.get(key) {
            return Err(StoreError::in_use(key, owner));
        }
        let epoch = {
            let mut last = locked(&self.last_lease);
            *last += 1;
            *last
        };
        leases.insert(key.clone(), (epoch, owner.clone()));
        let seq = locked(&self.objects).get(key).map_or(0, |object| object.seq);
        let (agent, encoder) = (header.agent.clone(), Mutex::new(LogEncoder::of(key, header)));
        Ok(Lease::new(key.clone(), epoch, seq, Writer { bucket: self.clone(), key: key.clone(), agent, encoder }))
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        let key = lease.key();
        let writer = lease.guard::<Writer>().ok_or_else(|| StoreError::lease_lost(key))?;
        let mut objects = locked(&self.objects);
        let new = || Object { agent: writer.agent.clone(), ..Object::default() };
        let mut object = objects.get(key).cloned().unwrap_or_else(new);
        if object.seq != expected_seq {
            return Err(StoreError::conflict(key, expected_seq, object.seq));
        }
        if entries.is_empty() {
            return Ok(object.seq);
        }
        let mut encoder = locked(&writer.encoder);
        for entry in &entries {
            encoder.entry(entry, &mut object.lines);
            object.changed = object.changed.max(entry.timestamp);
        }
        if durability == Durability::Durable {
            // The checksum lets a later reader of the lines see that no entry before this one is missing.
            encoder.checksum(&mut object.lines);
        }
        object.seq += entries.len() as u64;
        let seq = object.seq;
        // The one write to the bucket: all entries, or none.
        objects.insert(key.clone(), object);
        Ok(seq)
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        key.check_agent()?;
        let object = locked(&self.objects).get(key).cloned().ok_or_else(|| StoreError::not_found(key))?;
        let lines = object.lines.as_slice();
        let log = if key.agent.is_some() { read_agent_log(lines) } else { read_log(lines) };
        let log = log.map_err(|error| StoreError::new(StoreErrorKind::Io, format!("reading {key}: {error}")))?;
        Ok(Loaded::new(log.entries, object.seq, log.report))
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        let objects = locked(&self.objects);
        let sessions = objects.iter().filter(|(key, _)| key.project == *project && key.agent.is_none());
        let mut listed: Vec<SessionSummary> = sessions
            .filter_map(|(key, object)| {
                let lines = &object.lines;
                let tail = lines.get(lines.len().saturating_sub(SUMMARY_BYTES)..).unwrap_or(lines);
                summarize(&key.session, beginning(lines), tail, object.changed.millis(), lines.len() as u64)
            })
            .collect();
        listed.sort_by_key(|summary| std::cmp::Reverse(summary.last_modified));
        Ok(listed)
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        key.check_agent()?;
        let leases = locked(&self.leases);
        if let Some((other, (_, owner))) = leases.iter().find(|(other, _)| key.covers(other)) {
            return Err(StoreError::in_use(other, owner));
        }
        locked(&self.objects).retain(|other, _| !key.covers(other));
        Ok(())
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        let session = key.of_session();
        let objects = locked(&self.objects);
        let logs = objects.iter().filter(|(other, _)| session.covers(other));
        let mut agents: Vec<AgentSummary> = logs
            .filter_map(|(other, object)| {
                let header = object.agent.as_ref().map(|agent| agent.to_json()).unwrap_or_default();
                Some(AgentSummary::read(other.agent.clone()?, header.as_bytes(), beginning(&object.lines)))
            })
            .collect();
        AgentSummary::sort(&mut agents);
        agents.truncate(AgentSummary::MOST);
        Ok(agents)
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        drop(lease);
        Ok(())
    }
}

fn beginning(lines: &[u8]) -> &[u8] {
    lines.get(..SUMMARY_BYTES).unwrap_or(lines)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let bucket = Arc::new(Bucket::default());
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("I will remember the number 42.")));
    let first = query("Remember 42").provider(model).storage(bucket.clone()).await?;

    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("It was 42.")));
    let requests = model.clone();
    let second = query("Which number?").provider(model).storage(bucket).resume(first.session_id.as_str()).await?;
    println!("{}", second.text);
    anyhow::ensure!(requests.requests()[0].messages.len() == 3, "the history was not sent");
    Ok(())
}
