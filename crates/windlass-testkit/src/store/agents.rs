//! Rules of agents' logs, which are stored beside those of sessions.

use super::{OrBroken, entries, fill, header, key, loaded, open, owner, prompt, refused, same};
use crate::Violation;
use crate::violation::ensure;
use windlass_session::{AgentHeader, Annotation, Durability, Owner, SessionKey, SessionStore, StoreErrorKind};
use windlass_types::Entry;

/// Ids that would lead out of a folder, or are not valid names.
const BAD_IDS: [&str; 7] = ["", ".", "..", "../x", "a/b", "a\\b", "a.b"];

/// Checks that entries appended to an agent are read back unchanged, and only from that agent: the session and its
/// other agents have their own positions and leases.
///
/// # Errors
/// The store breaks the rule.
pub async fn agents_are_apart_from_their_session(store: &dyn SessionStore) -> Result<(), Violation> {
    let session = key("agents", 1);
    let (one, two) = (session.of_agent("a1".into()), session.of_agent("a2".into()));
    let lease = open(store, &session).await?;
    store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable).await.or_broken("append")?;
    let agent = store.open(&one, &owner(), header()).await.or_broken("an agent of an open session opens")?;
    same("the position of a new agent", &agent.seq(), &0)?;
    refused(store.load(&one).await, StoreErrorKind::NotFound, "nothing was stored of the agent")?;
    let written = entries();
    store.append(&agent, agent.seq(), written.clone(), Durability::Durable).await.or_broken("append")?;
    let second = store.open(&one, &Owner::new(1, "other"), header()).await;
    refused(second, StoreErrorKind::InUse, "the agent is in use")?;
    let error = refused(store.load(&two).await, StoreErrorKind::NotFound, "there is no such agent")?;
    ensure(error.to_string().contains("a2"), || format!("it is not so that the error names the agent: {error}"))?;
    let other = fill(store, &two, 5..7).await?;
    store.close(agent).await.or_broken("close")?;
    let read = store.load(&one).await.or_broken("load")?;
    same("the entries of the agent", &read.entries, &written)?;
    same("what was skipped", &read.report.skipped, &[])?;
    same("the warnings", &read.report.warnings, &Vec::<String>::new())?;
    same("the entries of the other agent", &loaded(store, &two).await?, &other)?;
    same("the entries of the session", &loaded(store, &session).await?, &[prompt(1, None)])?;
    store.close(lease).await.or_broken("close")
}

/// Checks that the agents of a session are listed with the headers of their creation, the first to begin first, and
/// that no list of sessions shows them, nor one that stored nothing.
///
/// # Errors
/// The store breaks the rule.
pub async fn agents_are_listed_with_their_session(store: &dyn SessionStore) -> Result<(), Violation> {
    let (session, other) = (key("agents-list", 1), key("agents-list", 2));
    same("the agents of no session", &store.agents(&session).await.or_broken("agents")?, &[])?;
    fill(store, &session, 0..1).await?;
    fill(store, &other, 1..2).await?;
    let first = AgentHeader::new("explore", "Look around", "toolu_1".into());
    let second = AgentHeader::new("plan", "Say \"how\"\n\u{e9}", "toolu_2".into()).with_parent(Some("z".into()));
    start(store, &session.of_agent("z".into()), Some(&first), vec![prompt(1, None)]).await?;
    start(store, &session.of_agent("a".into()), Some(&second), vec![prompt(2, None)]).await?;
    start(store, &other.of_agent("b".into()), Some(&first), vec![prompt(3, None)]).await?;
    start(store, &session.of_agent("unused".into()), Some(&first), Vec::new()).await?;
    // An agent that continues keeps its header.
    let more = vec![prompt(4, Some(&prompt(1, None).id))];
    start(store, &session.of_agent("z".into()), None, more).await?;
    let listed = store.agents(&session).await.or_broken("agents")?;
    let found: Vec<_> = listed
        .iter()
        .map(|one| {
            let call = one.tool_use_id.clone().unwrap_or_else(|| "none".into());
            let header = AgentHeader::new(one.agent_type.clone(), one.description.clone(), call);
            (one.id.as_str(), header.with_parent(one.parent.clone()))
        })
        .collect();
    same("the agents listed", &found, &vec![("z", first), ("a", second)])?;
    let began: Vec<_> = listed.iter().map(|one| one.started_at).collect();
    same(
        "the times at which they began",
        &began,
        &vec![Some(prompt(1, None).timestamp), Some(prompt(2, None).timestamp)],
    )?;
    let of_agent = store.agents(&session.of_agent("a".into())).await.or_broken("agents")?;
    same("what is listed by the key of an agent", &of_agent, &listed)?;
    let sessions = store.list(&session.project).await.or_broken("list")?;
    let mut ids: Vec<_> = sessions.into_iter().map(|one| one.session_id).collect();
    ids.sort();
    same("the sessions listed", &ids, &vec![session.session, other.session])
}

async fn start(
    store: &dyn SessionStore,
    key: &SessionKey,
    agent: Option<&AgentHeader>,
    entries: Vec<Entry>,
) -> Result<(), Violation> {
    let header = agent.cloned().map_or_else(header, |agent| header().with_agent(agent));
    let lease = store.open(key, &owner(), header).await.or_broken("an agent opens")?;
    store.append(&lease, lease.seq(), entries, Durability::Durable).await.or_broken("append")?;
    store.close(lease).await.or_broken("close")
}

/// Checks that deleting an agent leaves all other logs, and that deleting a session removes its agents with it, unless
/// one of them has a lease.
///
/// # Errors
/// The store breaks the rule.
pub async fn agents_go_with_their_session(store: &dyn SessionStore) -> Result<(), Violation> {
    let (session, other) = (key("agents-delete", 1), key("agents-delete", 2));
    let agent = |id: &str| session.of_agent(id.into());
    fill(store, &session, 0..1).await?;
    fill(store, &other.of_agent("a1".into()), 1..2).await?;
    for id in ["a1", "a2", "a3"] {
        start(store, &agent(id), Some(&AgentHeader::new("t", "d", "c".into())), vec![prompt(2, None)]).await?;
    }
    for _ in 0..2 {
        store.delete(&agent("a1")).await.or_broken("delete")?;
        refused(store.load(&agent("a1")).await, StoreErrorKind::NotFound, "the agent is gone")?;
    }
    same("the agents left", &store.agents(&session).await.or_broken("agents")?.len(), &2)?;
    same("the entries of the session", &loaded(store, &session).await?.len(), &1)?;
    let lease = open(store, &agent("a2")).await?;
    refused(store.delete(&session).await, StoreErrorKind::InUse, "an agent of it is in use")?;
    same("the entries of the session", &loaded(store, &session).await?.len(), &1)?;
    same("the entries of the other agent", &loaded(store, &agent("a3")).await?.len(), &1)?;
    store.close(lease).await.or_broken("close")?;
    store.delete(&session).await.or_broken("delete")?;
    for gone in [session.clone(), agent("a2"), agent("a3")] {
        refused(store.load(&gone).await, StoreErrorKind::NotFound, "the session is gone with its agents")?;
    }
    same("the agents left", &store.agents(&session).await.or_broken("agents")?, &[])?;
    same("the entries of another session's agent", &loaded(store, &other.of_agent("a1".into())).await?.len(), &1)
}

/// Checks that an id that is not a safe name names no agent, and that agents have no annotations.
///
/// # Errors
/// The store breaks the rule.
pub async fn agents_are_named_safely(store: &dyn SessionStore) -> Result<(), Violation> {
    let session = key("agents-names", 1);
    fill(store, &session, 0..1).await?;
    let long = "x".repeat(65);
    for id in BAD_IDS.into_iter().chain([long.as_str()]) {
        let bad = session.of_agent(id.into());
        let when = format!("{id:?} is no id of an agent");
        refused(store.open(&bad, &owner(), header()).await, StoreErrorKind::InvalidKey, &when)?;
        refused(store.load(&bad).await, StoreErrorKind::InvalidKey, &when)?;
        refused(store.delete(&bad).await, StoreErrorKind::InvalidKey, &when)?;
        let create = store.create(&bad, &owner(), header(), vec![prompt(1, None)]).await;
        refused(create, StoreErrorKind::InvalidKey, &when)?;
    }
    let agent = session.of_agent("A_1-z".into());
    fill(store, &agent, 1..2).await?;
    let annotated = store.annotate(&agent, &owner(), &Annotation::no_tag()).await;
    refused(annotated, StoreErrorKind::InvalidKey, "an agent is in no list")?;
    same("the entries of the agent", &loaded(store, &agent).await?.len(), &1)
}
