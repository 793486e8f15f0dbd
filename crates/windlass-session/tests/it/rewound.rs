//! Rewinding the conversation of a stored session.

use windlass_session::{
    Durability, Lease, LogHeader, MemoryStore, Owner, ProjectKey, RewoundMark, SessionKey, SessionStore, Transcript,
    check_messages, repair, rewind_conversation,
};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, SessionId, Timestamp, UserEntry};

fn id(number: u128) -> EntryId {
    EntryId::from_bits(number)
}

fn said(number: u128, parent: Option<u128>) -> Entry {
    let kind = EntryKind::User(UserEntry::new(vec![ContentBlock::text(format!("prompt {number}"))]));
    Entry::new(id(number), parent.map(id), Timestamp::default(), kind)
}

struct Stored {
    store: MemoryStore,
    key: SessionKey,
    lease: Lease,
}

impl Stored {
    /// Returns a session with three prompts.
    async fn new() -> Self {
        let store = MemoryStore::new();
        let key = SessionKey::new(ProjectKey::of("/w".as_ref()), SessionId::from_bits(1));
        let lease = store.open(&key, &Owner::new(1, "test"), LogHeader::default()).await.unwrap();
        let stored = Self { store, key, lease };
        stored.append(vec![said(1, None), said(2, Some(1)), said(3, Some(2))]).await;
        stored
    }

    async fn append(&self, entries: Vec<Entry>) {
        let seq = self.store.load(&self.key).await.map_or(self.lease.seq(), |loaded| loaded.seq);
        self.store.append(&self.lease, seq, entries, Durability::Durable).await.unwrap();
    }

    async fn rewind(&self, to: u128, mark: u128) -> Result<usize, String> {
        let mark = RewoundMark::new(id(mark), Timestamp::default()).with_files(Some(id(mark + 1_000)));
        let done = rewind_conversation(&self.store, &self.key, &self.lease, &id(to), mark).await;
        done.map(|(point, _)| point.dropped).map_err(|error| error.to_string())
    }

    /// Returns the prompts of the conversation, as a resumed session has them.
    async fn prompts(&self) -> Vec<EntryId> {
        let (entries, _) = repair(self.store.load(&self.key).await.unwrap().entries);
        let transcript = Transcript::from_entries(&entries);
        if entries.iter().any(Entry::is_conversation) {
            check_messages(transcript.messages().iter().map(|message| &**message)).unwrap();
        }
        entries.into_iter().filter(|entry| matches!(entry.kind, EntryKind::User(_))).map(|entry| entry.id).collect()
    }
}

#[tokio::test]
async fn a_conversation_ends_before_the_prompt_and_returns_when_that_is_taken_back() {
    let stored = Stored::new().await;
    assert_eq!(stored.rewind(2, 10).await, Ok(2));
    assert_eq!(stored.prompts().await, [id(1)]);
    // Further back, and each step undone.
    assert_eq!(stored.rewind(1, 11).await, Ok(1));
    assert_eq!(stored.prompts().await, []);
    assert_eq!(stored.rewind(11, 12).await, Ok(0));
    assert_eq!(stored.prompts().await, [id(1)]);
    assert_eq!(stored.rewind(10, 13).await, Ok(0));
    assert_eq!(stored.prompts().await, [1, 2, 3].map(id));
    // The undo is undone.
    assert_eq!(stored.rewind(13, 14).await, Ok(0));
    assert_eq!(stored.prompts().await, [id(1)]);
}

#[tokio::test]
async fn what_is_said_next_continues_where_the_conversation_was_rewound_to() {
    let stored = Stored::new().await;
    stored.rewind(3, 10).await.unwrap();
    stored.append(vec![said(4, Some(2))]).await;
    assert_eq!(stored.prompts().await, [1, 2, 4].map(id));
    stored.rewind(1, 11).await.unwrap();
    stored.append(vec![said(5, None)]).await;
    assert_eq!(stored.prompts().await, [id(5)]);
}

#[tokio::test]
async fn what_is_no_prompt_of_the_conversation_is_refused_and_nothing_written() {
    let stored = Stored::new().await;
    stored.rewind(2, 10).await.unwrap();
    let before = stored.store.log(&stored.key);
    for other in [2, 3, 99] {
        assert!(stored.rewind(other, 11).await.unwrap_err().contains("No message found"));
    }
    assert_eq!(stored.store.log(&stored.key), before);
}
