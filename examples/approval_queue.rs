//! An approval queue: agents of several sessions put their questions into one list, and people answer them from there,
//! in any order.

use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use windlass::permission::QuestionEvents;
use windlass::{
    Access, EventKind, PermissionAnswer, PermissionRequest, Permissions, Prompt, RunResult, Script, ScriptedModel,
    SessionHandle, ToolCx, agent, event::Watched, schemars::JsonSchema, tool_fn,
};

#[derive(serde::Deserialize, JsonSchema)]
struct Refund {
    /// In cents.
    amount: u32,
}

/// The sessions whose questions people see. The sessions themselves hold the questions, so the list is never older than
/// they are.
#[derive(Clone, Default)]
struct Queue(Arc<Mutex<BTreeMap<String, SessionHandle>>>);

impl Queue {
    fn join(&self, customer: &str, handle: SessionHandle) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(customer.to_owned(), handle);
    }

    /// The open questions, each with its customer and the session that takes the answer.
    fn open(&self) -> Vec<(String, SessionHandle, PermissionRequest)> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let questions = sessions.iter().flat_map(|(customer, handle)| {
            handle.open_questions().into_iter().map(move |question| (customer.clone(), handle.clone(), question))
        });
        questions.collect()
    }
}

/// Opens a session for a customer and gives it its task. The session continues without a reader.
async fn begin(queue: &Queue, customer: &str, cents: u32) -> anyhow::Result<SessionHandle> {
    let refund = tool_fn("refund", "Pays money back.", |refund: Refund, _: ToolCx| async move {
        Ok(format!("{} cents were paid back", refund.amount))
    });
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| turn.tool_use("refund", json!({"amount": cents})))
            .turn(|turn| turn.text("The customer was answered.")),
    );
    // Small amounts need nobody's approval; the rest waits in the queue.
    let permissions =
        Permissions::new().host(QuestionEvents).allow(if cents < 1_000 { vec!["refund"] } else { vec![] });
    let agent = agent().provider(model).tools(refund.with_access(Access::Network)).permissions(permissions);
    let session = agent.session().open().await?;
    session.events.detach();
    queue.join(customer, session.handle.clone());
    session.handle.prompt(Prompt::text(format!("{customer} wants {cents} cents back.")))?;
    Ok(session.handle)
}

/// Waits until a question of the session is open, or returns the result when its run is over.
async fn question_or_end(handle: &SessionHandle) -> anyhow::Result<Option<RunResult>> {
    let mut feed = handle.subscribe_from(0)?;
    while let Some(watched) = feed.try_next().await? {
        let Watched::Event(event) = watched else { continue };
        match &event.kind {
            EventKind::PermissionRequested(_) => return Ok(None),
            EventKind::RunFinished(result) => return Ok(Some(result.clone())),
            _ => {}
        }
    }
    anyhow::bail!("the session ended")
}

/// Waits for the result of the session's run.
async fn result(handle: &SessionHandle) -> anyhow::Result<RunResult> {
    let mut feed = handle.subscribe_from(0)?;
    while let Some(watched) = feed.try_next().await? {
        if let Watched::Event(event) = watched
            && let EventKind::RunFinished(result) = &event.kind
        {
            return Ok(result.clone());
        }
    }
    anyhow::bail!("the session ended")
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let queue = Queue::default();
    let mut sessions = Vec::new();
    for (customer, cents) in [("ada", 500), ("ben", 20_000), ("cleo", 90_000)] {
        sessions.push(begin(&queue, customer, cents).await?);
    }
    let mut waiting = 0;
    for handle in &sessions {
        waiting += usize::from(question_or_end(handle).await?.is_none());
    }

    // The page of the person who decides.
    let open = queue.open();
    anyhow::ensure!(waiting == 2 && open.len() == 2, "two questions were to wait: {open:?}");
    for (customer, handle, question) in open.into_iter().rev() {
        println!("{customer}: {} {}", question.tool, question.input);
        let answer = match customer.as_str() {
            "ben" => PermissionAnswer::allow(),
            _ => PermissionAnswer::deny("Too much: offer a voucher."),
        };
        handle.answer(&question.id, answer.clone())?;
        // Two people can press a button at once. The second one learns that the request is decided.
        anyhow::ensure!(handle.answer(&question.id, answer).is_err());
    }

    let mut denied = Vec::new();
    for handle in &sessions {
        let result = result(handle).await?;
        denied.push(result.permission_denials.len());
        handle.close().await?;
    }
    println!("denied: {denied:?}");
    anyhow::ensure!(denied == [0, 0, 1] && queue.open().is_empty());
    Ok(())
}
