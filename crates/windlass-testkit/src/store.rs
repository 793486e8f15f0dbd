//! The contract of a session store, one function for each rule.
//!
//! Each function works in its own project, so all of them can run on one store, and returns a [`Violation`] if the
//! store breaks the rule. Run [`all`] from a test of every implementation. The sessions of a rule are the same each
//! time: a store that keeps them needs an empty place for each run.
//!
//! ```
//! use windlass_session::MemoryStore;
//! use windlass_testkit::Violation;
//! use windlass_testkit::store::{self, Crash};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Violation> {
//! store::all(&MemoryStore::new(), Crash::LeavesWholeEntries).await
//! # }
//! ```

mod agents;
mod answers;
mod crash;
mod leases;
mod reader;
mod sample;

pub use agents::{
    agents_are_apart_from_their_session, agents_are_listed_with_their_session, agents_are_named_safely,
    agents_go_with_their_session,
};
pub use answers::an_answer_is_given_once_and_taken_once;
pub use crash::{Crash, a_torn_line_is_ended};
pub use leases::{
    ExpiringStores, a_renewed_lease_holds, an_expired_lease_is_taken_over, an_unused_session_is_free_again,
    leases_expire, one_of_many_openers_wins,
};
pub use reader::a_log_is_read_from_any_position;
pub use sample::{entries, header, key};

use crate::Violation;
use crate::violation::ensure;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use windlass_session::{Annotation, Durability, Lease, Owner, SessionKey, SessionStore, StoreError, StoreErrorKind};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};

/// Runs every rule of this module in turn. `crash` names the state that the store may find after a crash, which no
/// method of the port can show.
///
/// # Errors
/// The first rule that the store breaks, by its name.
pub async fn all(store: &dyn SessionStore, crash: Crash<'_>) -> Result<(), Violation> {
    of("entries come back as they were", entries_come_back_as_they_were(store).await)?;
    of("buffered entries are visible", buffered_entries_are_visible(store).await)?;
    of("appends keep their order", appends_keep_their_order(store).await)?;
    of("an empty append changes nothing", an_empty_append_changes_nothing(store).await)?;
    of("an unknown session is not found", an_unknown_session_is_not_found(store).await)?;
    of("an unused session leaves no trace", an_unused_session_leaves_no_trace(store).await)?;
    of("a second opener is refused", a_second_opener_is_refused(store).await)?;
    of("a new session has one opener", a_new_session_has_one_opener(store, store).await)?;
    of("a lease comes back when closed or dropped", a_lease_comes_back_when_closed_or_dropped(store).await)?;
    of("a wrong position is refused", a_wrong_position_is_refused(store).await)?;
    of("positions continue over leases", positions_continue_over_leases(store).await)?;
    of("an abandoned append is kept", an_abandoned_append_is_kept(store).await)?;
    of("loading changes nothing", loading_changes_nothing(store).await)?;
    of("sessions and projects are apart", sessions_and_projects_are_apart(store).await)?;
    of("lists show the last changed first", lists_show_the_last_changed_first(store).await)?;
    of("deleting is idempotent", deleting_is_idempotent(store).await)?;
    of("an open session is not deleted", an_open_session_is_not_deleted(store).await)?;
    of("a created session is whole and new", a_created_session_is_whole_and_new(store).await)?;
    of("annotations are listed", annotations_are_listed(store).await)?;
    of("agents are apart from their session", agents_are_apart_from_their_session(store).await)?;
    of("agents are listed with their session", agents_are_listed_with_their_session(store).await)?;
    of("agents go with their session", agents_go_with_their_session(store).await)?;
    of("agents are named safely", agents_are_named_safely(store).await)?;
    of("an answer is given once and taken once", an_answer_is_given_once_and_taken_once(store).await)?;
    of("a log is read from any position", a_log_is_read_from_any_position(store).await)?;
    if let Crash::TearsLines(tear) = crash {
        of("a torn line is ended", a_torn_line_is_ended(store, tear).await)?;
    }
    Ok(())
}

fn of(rule: &str, kept: Result<(), Violation>) -> Result<(), Violation> {
    kept.map_err(|found| Violation::new(format!("{rule}: {found}")))
}

/// Turns an error of the store into a violation that names the operation.
trait OrBroken<T> {
    fn or_broken(self, what: &str) -> Result<T, Violation>;
}

impl<T> OrBroken<T> for Result<T, StoreError> {
    fn or_broken(self, what: &str) -> Result<T, Violation> {
        self.map_err(|error| Violation::new(format!("{what}: {error} ({:?})", error.kind)))
    }
}

fn same<L: Debug + PartialEq<R>, R: Debug>(what: &str, found: &L, expected: &R) -> Result<(), Violation> {
    // Whole sessions are compared: their beginning is enough.
    let short = |value: &dyn Debug| format!("{value:?}").chars().take(1_000).collect::<String>();
    ensure(found == expected, || format!("{what}: {}, not {}", short(found), short(expected)))
}

/// Checks that an operation was refused for this reason.
fn refused<T: Debug>(found: Result<T, StoreError>, kind: StoreErrorKind, when: &str) -> Result<StoreError, Violation> {
    match found {
        Ok(found) => Err(Violation::new(format!("{when}, but it gave {found:?}"))),
        Err(error) if error.kind == kind => Ok(error),
        Err(error) => {
            Err(Violation::new(format!("{when}, but the error is {:?} and not {kind:?}: {error}", error.kind)))
        }
    }
}

fn owner() -> Owner {
    Owner::new(4_321, "kit")
}

async fn open(store: &dyn SessionStore, key: &SessionKey) -> Result<Lease, Violation> {
    store.open(key, &owner(), header()).await.or_broken("a free session opens")
}

fn prompt(number: u32, parent: Option<&EntryId>) -> Entry {
    let content = vec![ContentBlock::text(format!("prompt {number}"))];
    Entry::new(
        EntryId::from_bits(u128::from(number) + 1_000),
        parent.cloned(),
        Timestamp::from_millis(1_770_000_000_000 + u64::from(number)),
        EntryKind::User(UserEntry::new(content)),
    )
}

/// Appends prompts one by one, then closes the session.
async fn fill(
    store: &dyn SessionStore,
    key: &SessionKey,
    numbers: std::ops::Range<u32>,
) -> Result<Vec<Entry>, Violation> {
    let lease = open(store, key).await?;
    let mut seq = lease.seq();
    let mut written: Vec<Entry> = Vec::new();
    for number in numbers {
        let entry = prompt(number, written.last().map(|entry| &entry.id));
        written.push(entry.clone());
        seq = store
            .append(&lease, seq, vec![entry], Durability::Buffered)
            .await
            .or_broken("an append at its place works")?;
    }
    store.close(lease).await.or_broken("a healthy session closes")?;
    Ok(written)
}

async fn loaded(store: &dyn SessionStore, key: &SessionKey) -> Result<Vec<Entry>, Violation> {
    Ok(store.load(key).await.or_broken("a stored session loads")?.entries)
}

/// Checks that every kind of entry is read back equal, tool inputs and unknown lines as exact text, and that no line is
/// reported as damaged.
///
/// # Errors
/// The store breaks the rule.
pub async fn entries_come_back_as_they_were(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("round-trip", 1);
    let lease = open(store, &key).await?;
    let written = entries();
    let seq = store.append(&lease, lease.seq(), written.clone(), Durability::Durable).await.or_broken("append")?;
    let loaded = store.load(&key).await.or_broken("load")?;
    same("the entries", &loaded.entries, &written)?;
    same("the position after the last entry", &loaded.seq, &seq)?;
    same("the number of entries", &loaded.report.entries, &written.len())?;
    same("what was skipped", &loaded.report.skipped, &[])?;
    same("the warnings", &loaded.report.warnings, &Vec::<String>::new())?;
    store.close(lease).await.or_broken("close")?;
    same("the entries loaded", &store.load(&key).await.or_broken("load")?.entries, &written)?;
    Ok(())
}

/// Checks that a later load sees entries that were appended without waiting.
///
/// # Errors
/// The store breaks the rule.
pub async fn buffered_entries_are_visible(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("buffered", 1);
    let lease = open(store, &key).await?;
    let first = prompt(1, None);
    store.append(&lease, lease.seq(), vec![first.clone()], Durability::Buffered).await.or_broken("append")?;
    same("the entries loaded", &loaded(store, &key).await?, &[first])?;
    store.close(lease).await.or_broken("close")?;
    Ok(())
}

/// Checks that entries are in the order of the appends, whatever their durability.
///
/// # Errors
/// The store breaks the rule.
pub async fn appends_keep_their_order(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("order", 1);
    let lease = open(store, &key).await?;
    let mut seq = lease.seq();
    let mut written: Vec<Entry> = Vec::new();
    for number in 0..20 {
        let durability = if number % 5 == 0 { Durability::Durable } else { Durability::Buffered };
        let entry = prompt(number, written.last().map(|entry| &entry.id));
        written.push(entry.clone());
        let next = store.append(&lease, seq, vec![entry], durability).await.or_broken("append")?;
        ensure(next > seq, || format!("the position goes from {seq} to {next}"))?;
        seq = next;
    }
    store.close(lease).await.or_broken("close")?;
    same("the entries loaded", &loaded(store, &key).await?, &written)?;
    Ok(())
}

/// Checks that an append without entries keeps the position and creates no session.
///
/// # Errors
/// The store breaks the rule.
pub async fn an_empty_append_changes_nothing(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("empty", 1);
    let lease = open(store, &key).await?;
    for durability in [Durability::Buffered, Durability::Durable] {
        let seq = store.append(&lease, lease.seq(), Vec::new(), durability).await.or_broken("append")?;
        same("the position after an append without entries", &seq, &lease.seq())?;
    }
    store.close(lease).await.or_broken("close")?;
    refused(store.load(&key).await, StoreErrorKind::NotFound, "nothing was stored")?;
    Ok(())
}

/// Checks that a session that was never stored is a typed error that names it.
///
/// # Errors
/// The store breaks the rule.
pub async fn an_unknown_session_is_not_found(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("unknown", 1);
    let error = refused(store.load(&key).await, StoreErrorKind::NotFound, "there is no such session")?;
    ensure(error.to_string().contains(key.session.as_str()), || {
        format!("it is not so that the error names the session: {error}")
    })?;
    Ok(())
}

/// Checks that a session that was opened and not used is neither listed nor loaded.
///
/// # Errors
/// The store breaks the rule.
pub async fn an_unused_session_leaves_no_trace(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("unused", 1);
    let lease = open(store, &key).await?;
    store.close(lease).await.or_broken("close")?;
    refused(store.load(&key).await, StoreErrorKind::NotFound, "nothing was stored")?;
    same("the sessions listed", &store.list(&key.project).await.or_broken("list")?, &[])?;
    Ok(())
}

/// Checks that while a lease is held, a second one is refused, and that the error names the owner.
///
/// # Errors
/// The store breaks the rule.
pub async fn a_second_opener_is_refused(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("second", 1);
    let lease = open(store, &key).await?;
    store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable).await.or_broken("append")?;
    let error = refused(
        store.open(&key, &Owner::new(1, "other"), header()).await,
        StoreErrorKind::InUse,
        "the session is in use",
    )?;
    ensure(error.to_string().contains("4321"), || format!("it is not so that the error names the owner: {error}"))?;
    store.close(lease).await.or_broken("close")?;
    Ok(())
}

/// Checks that a session that is not stored yet can also be opened only once: the second opener is refused when it
/// opens, not at its first append. The second store is another one over the same place, such as that of another
/// process, or the same.
///
/// # Errors
/// The store breaks the rule.
pub async fn a_new_session_has_one_opener(store: &dyn SessionStore, other: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("new-twice", 1);
    let lease = open(store, &key).await?;
    refused(
        other.open(&key, &Owner::new(1, "other"), header()).await,
        StoreErrorKind::InUse,
        "the new session is in use",
    )?;
    refused(other.load(&key).await, StoreErrorKind::NotFound, "nothing was stored")?;
    same("the sessions listed", &other.list(&key.project).await.or_broken("list")?, &[])?;
    store.close(lease).await.or_broken("close")?;
    let again = open(other, &key).await?;
    let entry = prompt(1, None);
    other.append(&again, again.seq(), vec![entry.clone()], Durability::Durable).await.or_broken("append")?;
    other.close(again).await.or_broken("close")?;
    same("the entries loaded", &loaded(store, &key).await?, &[entry])?;
    Ok(())
}

/// Checks that closing returns the lease at once, dropping soon, and that appended entries are kept.
///
/// # Errors
/// The store breaks the rule.
pub async fn a_lease_comes_back_when_closed_or_dropped(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("lease", 1);
    let first = open(store, &key).await?;
    let epoch = first.epoch();
    store.close(first).await.or_broken("close")?;
    let second = open(store, &key).await?;
    ensure(second.epoch() != epoch, || format!("two leases have the number {epoch}"))?;
    store.append(&second, second.seq(), vec![prompt(1, None)], Durability::Buffered).await.or_broken("append")?;
    drop(second);
    let third = open(store, &key).await?;
    same("the entries loaded", &loaded(store, &key).await?, &[prompt(1, None)])?;
    store.close(third).await.or_broken("close")?;
    Ok(())
}

/// Checks that an append that expects another position is refused and changes no session.
///
/// # Errors
/// The store breaks the rule.
pub async fn a_wrong_position_is_refused(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("position", 1);
    let lease = open(store, &key).await?;
    let seq =
        store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable).await.or_broken("append")?;
    for wrong in [lease.seq(), seq + 1, u64::MAX] {
        let append = store.append(&lease, wrong, vec![prompt(2, None)], Durability::Durable).await;
        refused(append, StoreErrorKind::Conflict, "the position is wrong")?;
    }
    same("the entries loaded", &loaded(store, &key).await?, &[prompt(1, None)])?;
    let next = prompt(2, Some(&prompt(1, None).id));
    store.append(&lease, seq, vec![next], Durability::Durable).await.or_broken("the right position still works")?;
    store.close(lease).await.or_broken("close")?;
    Ok(())
}

/// Checks that a session that is opened again continues at its last position, which is not before that of any earlier
/// append.
///
/// # Errors
/// The store breaks the rule.
pub async fn positions_continue_over_leases(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("again", 1);
    let mut written = fill(store, &key, 0..3).await?;
    let loaded_before = store.load(&key).await.or_broken("load")?;
    let lease = open(store, &key).await?;
    same("the position when it is opened again", &lease.seq(), &loaded_before.seq)?;
    let next = prompt(3, written.last().map(|entry| &entry.id));
    let seq = store.append(&lease, lease.seq(), vec![next.clone()], Durability::Durable).await.or_broken("append")?;
    ensure(seq > loaded_before.seq, || format!("the position goes from {} to {seq}", loaded_before.seq))?;
    written.push(next);
    store.close(lease).await.or_broken("close")?;
    let loaded = store.load(&key).await.or_broken("load")?;
    same("the entries", &loaded.entries, &written)?;
    same("the warnings", &loaded.report.warnings, &Vec::<String>::new())?;
    Ok(())
}

/// Checks that an append whose future is dropped is still made.
///
/// # Errors
/// The store breaks the rule.
pub async fn an_abandoned_append_is_kept(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("abandoned", 1);
    let lease = open(store, &key).await?;
    {
        let mut append: Pin<Box<dyn Future<Output = _> + Send>> =
            store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable);
        let polled = append.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        ensure(!matches!(polled, Poll::Ready(Err(_))), || format!("an append fails: {polled:?}"))?;
    }
    store.close(lease).await.or_broken("close")?;
    same("the entries loaded", &loaded(store, &key).await?, &[prompt(1, None)])?;
    Ok(())
}

/// Checks that loading twice gives the same, position included.
///
/// # Errors
/// The store breaks the rule.
pub async fn loading_changes_nothing(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("load", 1);
    fill(store, &key, 0..5).await?;
    let first = store.load(&key).await.or_broken("load")?;
    same("the entries loaded", &store.load(&key).await.or_broken("load")?, &first)?;
    Ok(())
}

/// Checks that sessions of one project, and equal sessions of two, do not mix.
///
/// # Errors
/// The store breaks the rule.
pub async fn sessions_and_projects_are_apart(store: &dyn SessionStore) -> Result<(), Violation> {
    let (one, two, other) = (key("apart", 1), key("apart", 2), key("apart-too", 1));
    let first = fill(store, &one, 0..1).await?;
    let second = fill(store, &two, 1..3).await?;
    let third = fill(store, &other, 3..4).await?;
    same("the entries loaded", &loaded(store, &one).await?, &first)?;
    same("the entries loaded", &loaded(store, &two).await?, &second)?;
    same("the entries loaded", &loaded(store, &other).await?, &third)?;
    same("the sessions listed", &store.list(&one.project).await.or_broken("list")?.len(), &2)?;
    same("the sessions listed", &store.list(&other.project).await.or_broken("list")?.len(), &1)?;
    Ok(())
}

/// Checks that lists describe each session, the last changed first, with times in milliseconds.
///
/// # Errors
/// The store breaks the rule.
pub async fn lists_show_the_last_changed_first(store: &dyn SessionStore) -> Result<(), Violation> {
    let (one, two) = (key("list", 1), key("list", 2));
    fill(store, &one, 0..1).await?;
    fill(store, &two, 1..2).await?;
    let listed = store.list(&one.project).await.or_broken("list")?;
    let mut prompts: Vec<Option<&str>> = listed.iter().map(|session| session.first_prompt.as_deref()).collect();
    ensure(listed.is_sorted_by(|a, b| a.last_modified >= b.last_modified), || {
        format!("not the last changed first: {listed:?}")
    })?;
    prompts.sort_unstable();
    same("the prompts listed", &prompts, &[Some("prompt 0"), Some("prompt 1")])?;
    for session in &listed {
        ensure(session.last_modified > 1_000_000_000_000, || {
            format!("no milliseconds since 1970: {}", session.last_modified)
        })?;
        same("the directory", &session.cwd.as_deref(), &Some("/kit"))?;
        same("the branch", &session.git_branch.as_deref(), &Some("main"))?;
    }
    Ok(())
}

/// Checks that a deleted session is gone from loads and lists, and may be deleted again.
///
/// # Errors
/// The store breaks the rule.
pub async fn deleting_is_idempotent(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("delete", 1);
    fill(store, &key, 0..1).await?;
    for _ in 0..2 {
        store.delete(&key).await.or_broken("delete")?;
        refused(store.load(&key).await, StoreErrorKind::NotFound, "it is gone")?;
    }
    same("the sessions listed", &store.list(&key.project).await.or_broken("list")?, &[])?;
    let entries = fill(store, &key, 5..6).await?;
    same("the entries loaded", &loaded(store, &key).await?, &entries)?;
    Ok(())
}

/// Checks that a session with a lease is not deleted.
///
/// # Errors
/// The store breaks the rule.
pub async fn an_open_session_is_not_deleted(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("delete-open", 1);
    let lease = open(store, &key).await?;
    store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable).await.or_broken("append")?;
    refused(store.delete(&key).await, StoreErrorKind::InUse, "it is in use")?;
    store.close(lease).await.or_broken("close")?;
    same("the entries loaded", &loaded(store, &key).await?, &[prompt(1, None)])?;
    Ok(())
}

/// Checks that a created session has its entries and can be continued, and that one that exists, or is in use, is not
/// created again and stays unchanged.
///
/// # Errors
/// The store breaks this rule.
pub async fn a_created_session_is_whole_and_new(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("create", 1);
    let entries = vec![prompt(1, None), prompt(2, Some(&prompt(1, None).id))];
    store.create(&key, &owner(), header(), entries.clone()).await.or_broken("create")?;
    same("the entries loaded", &loaded(store, &key).await?, &entries)?;
    let again = store.create(&key, &owner(), header(), vec![prompt(3, None)]).await;
    refused(again, StoreErrorKind::Exists, "it is there already")?;
    same("the entries loaded", &loaded(store, &key).await?, &entries)?;
    let lease = open(store, &key).await?;
    let again = store.create(&key, &owner(), header(), vec![prompt(3, None)]).await;
    ensure(again.is_err(), || "a session in use was created again".to_owned())?;
    store.close(lease).await.or_broken("close")
}

/// Checks that titles and tags show in lists, the last of each, and that annotating an unknown session fails and does
/// not create it.
///
/// # Errors
/// The store breaks this rule.
pub async fn annotations_are_listed(store: &dyn SessionStore) -> Result<(), Violation> {
    let key = key("annotate", 1);
    let title = |text: &str| Annotation::title(text).map_err(|error| Violation::new(error.to_string()));
    let tag = Annotation::tag("tag").map_err(|error| Violation::new(error.to_string()))?;
    refused(store.annotate(&key, &owner(), &tag).await, StoreErrorKind::NotFound, "it is not there")?;
    refused(store.load(&key).await, StoreErrorKind::NotFound, "a note makes no session")?;
    let entries = vec![prompt(1, None)];
    store.create(&key, &owner(), header(), entries).await.or_broken("create")?;
    for annotation in [title("one")?, tag, title("two")?] {
        store.annotate(&key, &owner(), &annotation).await.or_broken("annotate")?;
    }
    let listed = store.list(&key.project).await.or_broken("list")?;
    let found: Vec<_> = listed.iter().map(|one| (one.custom_title.as_deref(), one.tag.as_deref())).collect();
    same("the title and tag listed", &found, &vec![(Some("two"), Some("tag"))])?;
    store.annotate(&key, &owner(), &Annotation::no_tag()).await.or_broken("annotate")?;
    let listed = store.list(&key.project).await.or_broken("list")?;
    same("the tag listed", &listed.iter().map(|one| one.tag.clone()).collect::<Vec<_>>(), &vec![None])
}
