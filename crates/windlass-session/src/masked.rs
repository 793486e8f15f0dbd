//! A store that masks secrets in texts.

use crate::{
    AgentSummary, Annotation, Durability, Lease, Loaded, LogHeader, LogReader, Owner, PendingAnswers, ProjectKey,
    SessionKey, SessionStore, SessionSummary, StoreError,
};
use async_trait::async_trait;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_types::{ContentBlock, Entry, EntryKind, JsonText, ToolResultContent, UserEntry};

/// Function that replaces the secrets of a text.
pub type MaskText = Arc<dyn Fn(&str) -> Cow<'_, str> + Send + Sync>;

/// Store that writes texts of prompts, of the model and of tools, and the strings in inputs and outputs of tools,
/// through a function that replaces secrets. Reasoning is written unchanged, because its signature covers it, and so is
/// the rest of an entry.
///
/// This changes history: the open session works with the original texts, but a resumed one reads the stored ones. Its
/// model sees `[redacted]`, its requests begin differently, so the provider's cache does not serve them, and a call
/// that waits for an answer is asked about anew if its input was masked.
pub struct MaskedStore {
    store: Arc<dyn SessionStore>,
    mask: MaskText,
}

impl MaskedStore {
    /// Returns a store that masks everything it writes to another one.
    pub fn new(store: Arc<dyn SessionStore>, mask: MaskText) -> Self {
        Self { store, mask }
    }

    fn masked(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        for entry in &mut entries {
            match &mut entry.kind {
                EntryKind::User(UserEntry { content, .. }) => self.blocks(content),
                EntryKind::Assistant(message) => self.blocks(&mut message.content),
                EntryKind::ToolResult(result) => {
                    self.result(&mut result.result.content);
                    result.structured = result.structured.as_ref().map(|json| self.json(json));
                }
                EntryKind::Decision(judged) => {
                    judged.decision.message = self.text(&judged.decision.message);
                    judged.input_changes.iter_mut().for_each(|change| change.input = self.json(&change.input));
                }
                EntryKind::Question(question) => question.title = self.text(&question.title),
                EntryKind::Todos(json) => *json = self.json(json),
                EntryKind::ResultsTrimmed(record) => {
                    record.results.iter_mut().for_each(|trimmed| trimmed.note = self.text(&trimmed.note));
                }
                _ => {}
            }
        }
        entries
    }

    fn blocks(&self, blocks: &mut [ContentBlock]) {
        for block in blocks {
            match block {
                ContentBlock::Text { text, .. } => *text = self.text(text),
                ContentBlock::ToolUse(call) => call.input = self.json(&call.input),
                ContentBlock::ToolResult(result) => self.result(&mut result.content),
                _ => {}
            }
        }
    }

    fn result(&self, content: &mut ToolResultContent) {
        match content {
            ToolResultContent::Text(text) => *text = self.text(text),
            ToolResultContent::Blocks(blocks) => self.blocks(blocks),
        }
    }

    fn text(&self, text: &str) -> String {
        (self.mask)(text).into_owned()
    }

    /// Returns JSON with masked strings. If nothing is masked, the text stays exactly the same.
    fn json(&self, json: &JsonText) -> JsonText {
        if matches!((self.mask)(json.as_str()), Cow::Borrowed(_)) {
            return json.clone();
        }
        let value = json.to::<serde_json::Value>().map(|value| self.value(value));
        value.ok().and_then(|value| JsonText::of(&value).ok()).unwrap_or_else(JsonText::empty_object)
    }

    fn value(&self, value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (name.clone(), self.member(&name, value))).collect()
            }
            value => value,
        }
    }

    /// Returns the masked value of a member. The name is part of the masked text: `"password": "…"`.
    fn member(&self, name: &str, value: serde_json::Value) -> serde_json::Value {
        let serde_json::Value::String(text) = &value else { return self.value(value) };
        let pair = format!("\"{name}\": \"{text}\"");
        match (self.mask)(&pair) {
            Cow::Borrowed(_) => value,
            Cow::Owned(masked) => {
                let inside = masked.strip_prefix(&format!("\"{name}\": \"")).and_then(|rest| rest.strip_suffix('"'));
                serde_json::Value::String(inside.map_or_else(|| self.text(text), str::to_owned))
            }
        }
    }
}

impl fmt::Debug for MaskedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskedStore").field("store", &self.store).finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl SessionStore for MaskedStore {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        self.store.open(key, owner, header).await
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        self.store.append(lease, expected_seq, self.masked(entries), durability).await
    }

    async fn renew(&self, lease: &Lease) -> Result<Option<Duration>, StoreError> {
        self.store.renew(lease).await
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        self.store.load(key).await
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        self.store.list(project).await
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    async fn create(
        &self,
        key: &SessionKey,
        owner: &Owner,
        header: LogHeader,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        self.store.create(key, owner, header, self.masked(entries)).await
    }

    async fn annotate(&self, key: &SessionKey, owner: &Owner, annotation: &Annotation) -> Result<(), StoreError> {
        self.store.annotate(key, owner, annotation).await
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        self.store.agents(key).await
    }

    fn answers(&self) -> Option<&dyn PendingAnswers> {
        self.store.answers()
    }

    fn reader(&self) -> Option<&dyn LogReader> {
        self.store.reader()
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        self.store.close(lease).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;
    use windlass_types::{AssistantEntry, Timestamp, ToolResult, ToolResultEntry, ToolUse, Usage};

    const SECRET: &str = "canary-7f3a";

    fn entries() -> Vec<Entry> {
        let said = format!("it is {SECRET}");
        let input = format!("{{\"n\": 1.50, \"deep\": [{{\"a\": \"{said}\"}}]}}");
        let blocks = vec![
            ContentBlock::text(&said),
            ContentBlock::ToolUse(ToolUse::new("t", "Bash", JsonText::parse(input).unwrap())),
            ContentBlock::ToolUse(ToolUse::new("u", "Bash", JsonText::parse("{\"b\" :1.50}").unwrap())),
        ];
        let ids = ["a", "b", "c"].map(Into::into).to_vec();
        let message = AssistantEntry::new("m".into(), "model".into(), blocks, ids, None, Usage::default());
        let mut result = ToolResultEntry::new(ToolResult::ok("t", said.clone()), "b".into());
        result.structured = Some(JsonText::parse(format!("{{\"stdout\": \"{said}\"}}")).unwrap());
        let kinds = [
            EntryKind::User(UserEntry::new(vec![ContentBlock::text(&said)])),
            EntryKind::Assistant(message),
            EntryKind::ToolResult(result),
        ];
        let ids = ["u", "c", "r"];
        let entries = kinds.into_iter().zip(ids);
        entries.map(|(kind, id)| Entry::new(id.into(), None, Timestamp::from_millis(1), kind)).collect()
    }

    #[tokio::test]
    async fn what_is_kept_has_no_secret() {
        let inner = Arc::new(MemoryStore::new());
        let store = MaskedStore::new(
            Arc::clone(&inner) as Arc<dyn SessionStore>,
            Arc::new(|text| match text.contains(SECRET) {
                true => Cow::Owned(text.replace(SECRET, "[redacted]")),
                false => Cow::Borrowed(text),
            }),
        );
        let id = "12345678-1234-4234-8234-123456789abc";
        let key = SessionKey::new(ProjectKey::of(std::path::Path::new("/work")), id.into());
        let owner = Owner::new(1, "test");
        let lease = store.open(&key, &owner, LogHeader::default()).await.unwrap();
        store.append(&lease, lease.seq(), entries(), Durability::Durable).await.unwrap();
        store.close(lease).await.unwrap();
        let kept = inner.load(&key).await.unwrap().entries;
        let text = format!("{kept:?}");
        assert!(!text.contains(SECRET) && text.matches("[redacted]").count() == 5, "{text}");
        // Text without secrets is stored unchanged.
        assert!(text.contains("1.50"), "{text}");
    }
}
