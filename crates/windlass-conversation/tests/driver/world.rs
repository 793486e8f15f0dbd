//! A conversation whose sessions have a scripted model and three tools.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_conversation::{
    ConversationAsker, ConversationOptions, LiveConversation, OpenFailure, OpenSession, SessionSettings, Update,
};
use windlass_core::MachineConfig;
use windlass_model::{Script, ScriptedModel, ScriptedTurn};
use windlass_permission::{CanUseTool, Policy, PolicyConfig};
use windlass_runtime::{ModelProfile, Ports, Session, SessionConfig, SystemIds};
use windlass_testkit::fake::{MemoryWorkspace, ScriptedProcess};
use windlass_tool::{DynTool, ToolCx, ToolSet, tool_fn};
use windlass_types::{Delta, EventKind, ModelInfo, SessionId};

type In = BTreeMap<String, Value>;

/// Counts of calls and sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) acted: Arc<AtomicUsize>,
    pub(crate) opened: Arc<AtomicUsize>,
}

/// A turn with a text.
pub(crate) fn says(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(text)
}

/// A turn with a call.
pub(crate) fn calls(tool: &str) -> ScriptedTurn {
    ScriptedTurn::new().tool_use_with_id("t1", tool, json!({}))
}

pub(crate) fn script(turns: impl IntoIterator<Item = ScriptedTurn>) -> ScriptedModel {
    ScriptedModel::new(turns.into_iter().fold(Script::new(), Script::then))
}

/// A conversation with a model.
pub(crate) fn conversation(model: ScriptedModel, counts: &Counts) -> LiveConversation {
    let mut options = ConversationOptions::default();
    options.has_commands = true;
    let counts = counts.clone();
    LiveConversation::new(options, Arc::new(SystemIds::default()), move |settings, asker| {
        open(model.clone(), counts.clone(), settings, asker)
    })
}

async fn open(
    model: ScriptedModel,
    counts: Counts,
    settings: SessionSettings,
    asker: ConversationAsker,
) -> Result<OpenSession, OpenFailure> {
    let number = counts.opened.fetch_add(1, Ordering::SeqCst) + 1;
    assert_eq!(settings.is_fresh, number > 1);
    let acted = counts.acted;
    let act = tool_fn("act", "Has an effect.", move |_: In, _: ToolCx| {
        acted.fetch_add(1, Ordering::SeqCst);
        async { Ok("acted".to_owned()) }
    });
    let hang = tool_fn("hang", "Does not listen to its end.", |_: In, _: ToolCx| {
        std::future::pending::<Result<String, windlass_tool::ToolError>>()
    });
    let hang: Arc<dyn DynTool> = Arc::new(hang);
    let tools = ToolSet::new([Arc::new(act) as Arc<dyn DynTool>, hang])?;
    let policy = Policy::new(PolicyConfig::new("/w"));
    let profile = |name: &str| ModelProfile::new(name, ModelInfo::new(10_000_000, 1_000_000));
    let name = settings.model.flatten().unwrap_or_else(|| "m".to_owned());
    let id = SessionId::from(format!("s{number}"));
    let mut machine = MachineConfig::new(id, 7, profile(&name), policy, "/w".into());
    machine.tools.specs = tools.specs();
    let mut ports =
        Ports::new(Arc::new(model), tools, Arc::new(MemoryWorkspace::new()), Arc::new(ScriptedProcess::new()));
    ports.host.callback = Some(Arc::new(asker) as Arc<dyn CanUseTool>);
    let session = Session::open(SessionConfig::new(machine, ports)).await?;
    Ok(OpenSession::new(session, move |name| profile(name.unwrap_or("m"))))
}

/// All text of the model.
pub(crate) fn text(updates: &[Update]) -> String {
    let texts = updates.iter().filter_map(|update| match update {
        Update::Event(event) => match &event.kind {
            EventKind::BlockDelta { delta: Delta::Text(text), .. } => Some(text.as_str()),
            _ => None,
        },
        _ => None,
    });
    texts.collect()
}

/// All updates until the end.
pub(crate) async fn rest(conversation: &mut LiveConversation) -> Vec<Update> {
    let mut updates = Vec::new();
    while let Some(update) = conversation.next().await {
        updates.push(update);
    }
    updates
}

/// The updates up to and with one of these.
pub(crate) async fn until(conversation: &mut LiveConversation, is_last: impl Fn(&Update) -> bool) -> Vec<Update> {
    let mut updates = Vec::new();
    loop {
        let update = conversation.next().await.expect("the conversation goes on");
        let last = is_last(&update);
        updates.push(update);
        if last {
            return updates;
        }
    }
}
