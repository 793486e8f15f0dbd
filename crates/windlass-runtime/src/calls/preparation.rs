//! Reading a call: from the model's words to facts that can be judged.

use crate::calls::git;
use crate::calls::path_resolver::PathResolver;
use crate::calls::repository;
use std::collections::HashMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_core::{EffectId, Prepared, Unprepared};
use windlass_permission::{
    CallFacts, CommandFacts, OwnCheck, PathFact, Policy, access_of_unknown, command_paths, version_control_places,
};
use windlass_schema::{CheckedCall, CheckedTools};
use windlass_tool::{DynTool, PreparedCall, ToolCheck, ToolSet, Workspace};
use windlass_types::locale::{CharacterSet, character_set};
use windlass_types::path::{absolute, has_parent};
use windlass_types::text::visible_line;
use windlass_types::{Access, Behavior, CallDigest, Decision, DecisionReason, JsonText, ToolUse};

/// A call that was read: facts for the machine, and the code that runs if it may.
pub(crate) struct Preparation {
    pub(crate) prepared: Prepared,
    pub(crate) call: ReadCall,
}

/// A call and the tool that read it, which stays the one that runs it.
pub(crate) struct ReadCall {
    pub(crate) call: Box<dyn PreparedCall>,
    pub(crate) tool: Arc<dyn DynTool>,
}

/// Read calls, until they run.
pub(crate) struct ReadCalls {
    /// Calls by the effect that read them.
    ready: HashMap<EffectId, ReadCall>,
    arrived: mpsc::UnboundedReceiver<(EffectId, ReadCall)>,
    arriving: mpsc::UnboundedSender<(EffectId, ReadCall)>,
}

impl ReadCalls {
    pub(crate) fn new() -> Self {
        let (arriving, arrived) = mpsc::unbounded_channel();
        Self { ready: HashMap::new(), arrived, arriving }
    }

    /// Returns a sender of read calls.
    pub(crate) fn sender(&self) -> mpsc::UnboundedSender<(EffectId, ReadCall)> {
        self.arriving.clone()
    }

    /// Takes the call that an effect read.
    pub(crate) fn take(&mut self, effect: EffectId) -> Option<ReadCall> {
        while let Ok((effect, call)) = self.arrived.try_recv() {
            self.ready.insert(effect, call);
        }
        self.ready.remove(&effect)
    }

    /// Drops a call that will not run.
    pub(crate) fn forget(&mut self, effect: EffectId) {
        self.ready.remove(&effect);
    }

    /// Drops all calls.
    pub(crate) fn clear(&mut self) {
        while self.arrived.try_recv().is_ok() {}
        self.ready.clear();
    }
}

/// Context in which calls are read.
pub(crate) struct PreparationContext {
    pub(crate) tools: CheckedTools,
    pub(crate) workspace: Arc<dyn Workspace>,
    /// Policy with the directories of the workspace and the home that `~` in commands means.
    pub(crate) policy: Arc<Policy>,
    /// Environment of programs.
    pub(crate) env: Arc<[(OsString, OsString)]>,
}

/// Reads a call. User code runs here (the tool's own reading, access, check,
/// title); its panic is a refusal.
pub(crate) async fn prepare(
    context: &PreparationContext,
    call: &ToolUse,
    cwd: &Path,
) -> Result<Preparation, Unprepared> {
    let tools = &context.tools;
    let Some(tool) = tools.get(&call.name) else {
        return Err(Unprepared::new(DecisionReason::UnknownTool, tools.unknown(&call.name).model_text()));
    };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let annotations = tool.annotations();
        tools.read(&call.name, &call.input).map(|CheckedCall { call: prepared, changed, .. }| {
            let input = changed.unwrap_or_else(|| call.input.clone());
            let claims = Claims {
                access: prepared.access(),
                command: prepared.command().map(str::to_owned),
                check: prepared.check(),
                title: prepared.title(),
                background: annotations.background_field.is_some_and(|field| is_set(&input, field)),
                requires_user_interaction: annotations.requires_user_interaction,
            };
            (prepared, input, claims, annotations.hinted_read_only)
        })
    }));
    let (prepared, input, claims, hinted_read_only) = match result {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => return Err(Unprepared::new(DecisionReason::InvalidInput, error.model_text())),
        Err(_) => {
            let text = format!("The tool {} failed while it read the input.", call.name);
            return Err(Unprepared::new(DecisionReason::ToolCheck, text));
        }
    };
    let title = visible_line(&claims.title);
    let call = &ToolUse::new(call.id.clone(), call.name.clone(), input);
    let facts = facts(context, call, cwd, claims).await;
    let call = ReadCall { call: prepared, tool: Arc::clone(tool) };
    let mut prepared = Prepared::new(facts, title);
    prepared.hinted_read_only = hinted_read_only;
    Ok(Preparation { prepared, call })
}

/// Judges one call by a policy without running it: prepared as in a session, then decided without hooks and without
/// asking the host.
///
/// Links are followed through the workspace; no file is written. A call of a
/// tool that is not in the set is judged by its name and input alone.
pub async fn judge(
    tools: &ToolSet,
    workspace: &Arc<dyn Workspace>,
    policy: &Policy,
    call: &ToolUse,
    cwd: &Path,
) -> Decision {
    let context = PreparationContext {
        tools: tools.clone().into(),
        workspace: Arc::clone(workspace),
        policy: Arc::new(policy.clone()),
        env: Arc::from([]),
    };
    match prepare(&context, call, cwd).await {
        Ok(ready) => policy.decide(&ready.prepared.facts, None, None),
        Err(unprepared) if unprepared.reason == DecisionReason::UnknownTool => {
            let claims = Claims::of(access_of_unknown(&call.name, &call.input));
            policy.decide(&facts(&context, call, cwd, claims).await, None, None)
        }
        Err(unprepared) => Decision::new(Behavior::Deny, unprepared.reason, unprepared.text),
    }
}

/// Statements of a tool about one call.
pub(crate) struct Claims {
    access: Access,
    command: Option<String>,
    /// `true` if the call ends before its command does.
    background: bool,
    check: ToolCheck,
    title: String,
    requires_user_interaction: bool,
}

impl Claims {
    /// An access without other statements.
    pub(crate) fn of(access: Access) -> Self {
        Self {
            access,
            command: None,
            background: false,
            check: ToolCheck::Undecided,
            title: String::new(),
            requires_user_interaction: false,
        }
    }
}

pub(crate) async fn facts(context: &PreparationContext, call: &ToolUse, cwd: &Path, claims: Claims) -> CallFacts {
    let workspace = &context.workspace;
    let mut resolver = PathResolver::new(workspace);
    let write = matches!(claims.access, Access::Writes(_));
    let walked = walked_differently(claims.access.paths(), cwd);
    let (access, requested) = absolute_access(claims.access, cwd);
    let mut paths = Vec::with_capacity(requested.len());
    for path in requested {
        // A path that cannot be followed stays as requested, and will be refused when it is opened.
        let unfollowed = PathFact::new(path.clone(), path.clone(), write);
        paths.push(resolver.follow(path, write).await.unwrap_or(unfollowed));
    }
    for path in walked {
        // The tools here use the normalized path; a tool of its own walks like the system.
        if let Some(fact) = resolver.follow(path, write).await
            && !paths.iter().any(|known| known.resolved == fact.resolved)
        {
            paths.push(PathFact::new(fact.resolved.clone(), fact.resolved, write).with_via(fact.via));
        }
    }
    let mut command = None;
    if let Some(text) = claims.command {
        let analysis = windlass_shell::analyse(&text);
        let mentioned_paths = command_paths(&analysis, cwd, context.policy.home());
        let inert = match git::concerns(&analysis) {
            true => git::inert(&**workspace, context.policy.directories(), &context.env, cwd, &analysis).await,
            false => None,
        };
        let places = version_control_places(&analysis, cwd);
        let is_own_repository = repository::is_own(&**workspace, context.policy.directories(), &places).await;
        let facts = CommandFacts::new(analysis, Vec::new())
            .with_inert_git(inert.is_some())
            .with_own_repository(is_own_repository);
        let facts = facts.with_tracked(inert.and_then(|inert| inert.tracked));
        let facts = facts.with_background(claims.background);
        command = Some(resolver.at_command(facts, mentioned_paths).await);
    }
    let digest = digest(call, cwd, &paths, command.as_ref());
    let misread = command.as_ref().is_some_and(|command| !command.text.is_ascii()) && !reads_utf8(&context.env);
    let check = match claims.check {
        ToolCheck::Undecided if misread => OwnCheck::Ask(NO_UTF8.to_owned()),
        ToolCheck::Undecided => OwnCheck::Undecided,
        ToolCheck::Ask(reason) => OwnCheck::Ask(reason),
        ToolCheck::Deny(reason) => OwnCheck::Deny(reason),
        _ => OwnCheck::Deny("the tool's own check is not understood".to_owned()),
    };
    let mut facts = CallFacts::new(&call.name, call.input.clone(), access, digest, cwd)
        .with_paths(paths)
        .with_check(check)
        .with_user_interaction(claims.requires_user_interaction);
    facts.command = command;
    facts
}

/// Reason to ask about a command that programs may read differently from its analysis.
const NO_UTF8: &str =
    "It has characters beyond ASCII, and programs here have no UTF-8 locale: they may read them as other characters.";

/// Returns `false` if the environment says that no UTF-8 locale was found. Without such a statement, programs get one.
fn reads_utf8(environment: &[(OsString, OsString)]) -> bool {
    let locale = environment.iter().rev().find(|(name, _)| name == "LC_CTYPE").and_then(|(_, value)| value.to_str());
    locale.map(character_set) != Some(CharacterSet::SingleBytes)
}

/// Returns `true` if the input has this field, and its value is `true`.
fn is_set(input: &JsonText, field: &str) -> bool {
    let fields = input.to::<std::collections::BTreeMap<String, JsonText>>().unwrap_or_default();
    fields.get(field).is_some_and(|value| value.as_str() == "true")
}

fn absolute_access(access: Access, cwd: &Path) -> (Access, Vec<PathBuf>) {
    let absolute_paths =
        |paths: Vec<PathBuf>| -> Vec<PathBuf> { paths.iter().map(|path| absolute(cwd, path)).collect() };
    match access {
        Access::Reads(paths) => {
            let paths = absolute_paths(paths);
            (Access::Reads(paths.clone()), paths)
        }
        Access::Writes(paths) => {
            let paths = absolute_paths(paths);
            (Access::Writes(paths.clone()), paths)
        }
        other => (other, Vec::new()),
    }
}

/// Returns the paths with `..` as the system would walk them, which differ if a link stands before it.
fn walked_differently(paths: &[PathBuf], cwd: &Path) -> Vec<PathBuf> {
    paths.iter().filter(|path| has_parent(path)).map(|path| cwd.join(path)).collect()
}

/// Returns the digest of the exact call. Each part is preceded by its length, so that no two calls share their bytes.
pub(crate) fn digest(call: &ToolUse, cwd: &Path, paths: &[PathFact], command: Option<&CommandFacts>) -> CallDigest {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(call.name.as_bytes());
    part(call.input.as_str().as_bytes());
    part(cwd.as_os_str().as_encoded_bytes());
    let of_command = command.into_iter().flat_map(|command| {
        let patterns = command.patterns.iter().flat_map(|pattern| &pattern.matches);
        let links = command.trees.iter().flat_map(|tree| tree.links.iter().chain(&tree.overwritten));
        command.paths.iter().chain(patterns).chain(links)
    });
    for path in paths.iter().chain(of_command) {
        part(path.requested.as_os_str().as_encoded_bytes());
        part(path.resolved.as_os_str().as_encoded_bytes());
        part(&[u8::from(path.write)]);
    }
    CallDigest::new(hasher.finalize().to_hex().as_str())
}
