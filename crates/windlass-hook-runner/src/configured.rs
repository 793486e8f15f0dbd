//! Configured hooks as hooks of a session.

use crate::command::{self, Program};
use crate::definition::{Background, HookDefinition, HookHandler, OnFailure};
use crate::exit::Said;
use crate::input::hook_input;
use crate::late::{Late, LateHook};
use crate::ports::HookPorts;
use crate::scope::HookScope;
use crate::{question, request, tool};
use async_trait::async_trait;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use windlass_hook::{Hook, HookContext, HookError, Interest};
use windlass_tool::Cancel;
use windlass_types::{HookCall, HookOutcome, JsonText};

/// Time that a program gets beyond its limit, until all its processes have ended.
const ENDING: Duration = Duration::from_secs(5);

/// A hook with its origin and scope.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredHook {
    /// Event, matcher and handler of the hook.
    pub definition: HookDefinition,
    /// Directory of the plugin that defines the hook.
    pub plugin: Option<PathBuf>,
    /// Agents or skills whose events the hook receives.
    pub scope: HookScope,
    /// Working directory of the hook's program.
    pub start: HookStart,
}

/// Working directory of a hook's program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookStart {
    /// The directory of the call, as programs of Bash.
    #[default]
    Call,
    /// Fixed directory. The hook's input names the directory of the call.
    Directory(PathBuf),
    /// No directory: the program does not start, for this reason. A gate closes with it, other hooks fail.
    Never(String),
}

impl ConfiguredHook {
    /// Creates a hook of a whole session.
    #[must_use]
    pub fn new(definition: HookDefinition) -> Self {
        Self { definition, plugin: None, scope: HookScope::Session, start: HookStart::Call }
    }

    /// Sets the directory of the plugin that defines the hook.
    #[must_use]
    pub fn of_plugin(mut self, root: impl Into<PathBuf>) -> Self {
        self.plugin = Some(root.into());
        self
    }

    /// Limits the hook to the events of a scope.
    #[must_use]
    pub fn in_scope(mut self, scope: HookScope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the working directory of the hook's program. Default: the directory of the call.
    #[must_use]
    pub fn starting(mut self, start: HookStart) -> Self {
        self.start = start;
        self
    }

    fn does_the_same(&self, other: &Self) -> bool {
        self.definition.does_the_same(&other.definition) && self.plugin == other.plugin && self.start == other.start
    }

    /// Returns the working directory of the hook's program for one event.
    fn directory<'a>(&'a self, call: &'a Path) -> Result<&'a Path, HookError> {
        match &self.start {
            HookStart::Call => Ok(call),
            HookStart::Directory(directory) => Ok(directory),
            HookStart::Never(reason) => Err(reason.clone().into()),
        }
    }
}

/// Makes hooks of a session, in the order of precedence. Among hooks that run the same handler for one event, only the
/// [strictest](HookDefinition::strictness) runs, so that a copy elsewhere never weakens a gate.
///
/// When the last of them is dropped, background programs are ended.
#[must_use]
pub fn configured_hooks(hooks: Vec<ConfiguredHook>, ports: HookPorts) -> Vec<Arc<dyn Hook>> {
    let names: Vec<String> = hooks.iter().map(|hook| hook.definition.to_string()).collect();
    let shared = Arc::new(HookState {
        late: Arc::new(Late::default()),
        hooks,
        ports,
        spent: Mutex::default(),
        cancel: Cancel::new(),
    });
    let in_background = |hook: &ConfiguredHook| match &hook.definition.handler {
        HookHandler::Command(command) => command.background != Background::No,
        _ => false,
    };
    let mut all: Vec<Arc<dyn Hook>> = Vec::new();
    if shared.hooks.iter().any(in_background) {
        all.push(Arc::new(LateHook::new(Arc::clone(&shared.late))));
    }
    for (at, name) in names.into_iter().enumerate() {
        all.push(Arc::new(Configured { shared: Arc::clone(&shared), at, name }));
    }
    all
}

/// State shared by the configured hooks of a session.
struct HookState {
    hooks: Vec<ConfiguredHook>,
    ports: HookPorts,
    late: Arc<Late>,
    /// Indices of `once` hooks that have run.
    spent: Mutex<BTreeSet<usize>>,
    cancel: Cancel,
}

impl Drop for HookState {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl HookState {
    /// Returns `true` if the hook at an index applies to an event.
    fn is_about(&self, at: usize, cx: &HookContext, call: &HookCall) -> bool {
        let Some(hook) = self.hooks.get(at) else { return false };
        let definition = &hook.definition;
        let asks_model = matches!(definition.handler, HookHandler::Prompt(_) | HookHandler::Agent(_));
        let of_hook = |agent| asks_model && self.ports.host.is_of_hook(agent);
        definition.event == call.event()
            && definition.matcher.matches(call.subject())
            && hook.scope.covers(cx, call)
            && !(definition.once && self.spent.lock().unwrap_or_else(PoisonError::into_inner).contains(&at))
            && !call.agent().or(cx.agent.as_ref()).is_some_and(of_hook)
            && definition.condition.as_ref().is_none_or(|condition| condition.meets(call, &cx.cwd))
    }
}

/// One configured hook.
struct Configured {
    shared: Arc<HookState>,
    at: usize,
    name: String,
}

impl Configured {
    fn hook(&self) -> Result<&ConfiguredHook, HookError> {
        self.shared.hooks.get(self.at).ok_or_else(|| "it is not there".into())
    }

    async fn run(&self, cx: &HookContext, call: &HookCall) -> Result<HookOutcome, HookError> {
        let (hook, ports) = (self.hook()?, &self.shared.ports);
        let definition = &hook.definition;
        let closes = definition.event.is_gating() && definition.on_failure == OnFailure::Block;
        if let (HookStart::Never(reason), true) = (&hook.start, closes) {
            return Ok(HookOutcome::refused(definition.event, &self.name, reason.clone()));
        }
        if definition.once {
            self.shared.spent.lock().unwrap_or_else(PoisonError::into_inner).insert(self.at);
        }
        let input = hook_input(cx, call, ports.transcript.as_deref())?;
        let said = Said { hook: &self.name, call, on_failure: definition.on_failure, texts: &ports.texts };
        match &definition.handler {
            HookHandler::Command(handler) if handler.background != Background::No => {
                self.start(cx, call, input);
                Ok(HookOutcome::default())
            }
            HookHandler::Command(handler) => {
                let program = Program { definition, handler, plugin: hook.plugin.as_deref() };
                command::answer(&program, &said, ports, hook.directory(&cx.cwd)?, &input, &Cancel::new()).await
            }
            HookHandler::Http(handler) => request::answer(handler, &ports.requests, &*ports.host, &said, &input).await,
            HookHandler::McpTool(handler) => tool::answer(handler, &*ports.host, &said, &input).await,
            HookHandler::Prompt(handler) => question::answer(handler, false, &*ports.host, &said, &input).await,
            HookHandler::Agent(handler) => question::answer(handler, true, &*ports.host, &said, &input).await,
        }
    }

    /// Starts a program in the background. The program ends with the session.
    fn start(&self, cx: &HookContext, call: &HookCall, input: JsonText) {
        let (ports, late, cancel) =
            (self.shared.ports.clone(), Arc::clone(&self.shared.late), self.shared.cancel.child());
        let (Ok(hook), name) = (self.hook().cloned(), self.name.clone()) else { return };
        let (cwd, call) = (cx.cwd.clone(), call.clone());
        tokio::spawn(async move {
            let definition = &hook.definition;
            let HookHandler::Command(handler) = &definition.handler else { return };
            let program = Program { definition, handler, plugin: hook.plugin.as_deref() };
            let said = Said { hook: &name, call: &call, on_failure: OnFailure::Continue, texts: &ports.texts };
            let ended = match hook.directory(&cwd) {
                Ok(directory) => program.run(&ports, directory, &input, &cancel).await,
                Err(error) => Err(error),
            };
            match ended {
                Ok(ended) if ended.code == 2 && handler.background == Background::Rewake => {
                    let said = (ports.frame)(&name, ports.texts.short(ended.stderr).trim().to_owned());
                    ports.host.wake(Late::wake_text(&name, &said));
                }
                Ok(ended) => {
                    let said = crate::exit::read_exit(&said, &ended);
                    late.add(&name, said.map(|said| ports.framed(&name, said)));
                }
                Err(error) => tracing::warn!(hook = %name, %error, "a hook failed that no run waits for"),
            }
        });
    }
}

#[async_trait]
impl Hook for Configured {
    fn name(&self) -> &str {
        &self.name
    }

    fn interests(&self) -> Vec<Interest> {
        self.hook().map(|hook| vec![hook.definition.matcher.interest(hook.definition.event)]).unwrap_or_default()
    }

    fn listens(&self, cx: &HookContext, call: &HookCall) -> bool {
        let Ok(own) = self.hook() else { return false };
        let same = self.shared.hooks.iter().enumerate().filter(|(at, hook)| *at != self.at && hook.does_the_same(own));
        let is_before = |at: usize, other: &ConfiguredHook| {
            let (ours, theirs) = (own.definition.strictness(), other.definition.strictness());
            theirs > ours || (theirs == ours && at < self.at)
        };
        let mut stronger = same.filter(|(at, hook)| is_before(*at, hook));
        self.shared.is_about(self.at, cx, call) && !stronger.any(|(at, _)| self.shared.is_about(at, cx, call))
    }

    fn status_message(&self) -> Option<&str> {
        self.hook().ok()?.definition.status_message.as_deref()
    }

    fn closes_gates(&self) -> bool {
        self.hook().map_or(true, |hook| hook.definition.on_failure == OnFailure::Block)
    }

    fn time_limit(&self) -> Option<Duration> {
        let definition = &self.hook().ok()?.definition;
        let limit = definition.time_limit();
        // A program has a limit of its own, which ends all its processes.
        Some(match definition.handler {
            HookHandler::Command(_) => {
                limit.saturating_add(ENDING).saturating_add(self.shared.ports.host.review_time())
            }
            _ => limit,
        })
    }

    async fn answer(&self, cx: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        let said = self.run(cx, call).await?;
        Ok(Some(self.shared.ports.framed(&self.name, said)))
    }
}

impl fmt::Debug for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configured").field("name", &self.name).finish_non_exhaustive()
    }
}
