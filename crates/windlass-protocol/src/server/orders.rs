//! Carries out what the machine orders.

use super::asking::{Asking, Message};
use super::error::OpenFailure;
use super::extras::Extras;
use super::hooks::HostHooks;
use super::jobs::{conversation_changes, order_mcp, rewind_conversation, tail};
use super::machine::io::{
    HostFacts, Initialization, Initialized, Input, Job, Opening, Order, Outcome, Reloaded, Ticket,
};
use super::mcp::{HostMcp, McpStatus};
use super::mirror::Copying;
use super::options::ServerOptions;
use super::permission::HostPermissions;
use super::plugins::PluginReload;
use super::scene::Scene;
use super::setup::{HostSetup, Models, Opened};
use crate::channel::requests::{Answer, AskError};
use futures_util::FutureExt;
use futures_util::future::Either;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};
use windlass_conversation::{
    CallReference, Generation, Input as Turn, Job as SessionJob, NotRewound, Order as ConversationOrder,
    Outcome as JobOutcome, RewindScope, Rewound, SessionFacts, SessionOrder, Timer,
};
use windlass_runtime::{EventStream, RewindError, SessionError, SessionHandle};
use windlass_session::StoredQuestion;
use windlass_types::{EntryId, JsonText};

/// All effects of a server: sessions, MCP servers, disks, clocks, and the tasks that wait for answers.
pub(super) struct Orders {
    options: ServerOptions,
    /// The sessions whose events have not ended, the current one last.
    pub(super) sessions: Vec<Open>,
    /// Those that are not closed.
    handles: BTreeMap<Generation, SessionHandle>,
    /// After how long the logs of sessions that are closed were given up, once they are.
    given_up: watch::Sender<Option<Duration>>,
    /// What the current session can do.
    live: Option<Live>,
    generation: Generation,
    /// Why the current session could not continue.
    pub(super) broken: Option<SessionError>,
    /// What takes time. Its outcomes are inputs.
    pub(super) jobs: JoinSet<Input>,
    pub(super) timers: BTreeMap<Timer, Pin<Box<Sleep>>>,
    /// Timer of the next sign of life.
    pub(super) keep_alive: Option<Pin<Box<Sleep>>>,
    pub(super) copying: Option<Copying>,
    /// The tasks that wait for answers and messages of the host.
    waiting: Waiting,
    callbacks: Callbacks,
    /// Inputs that are to be handed to the machine first.
    pub(super) inputs: VecDeque<Input>,
}

#[derive(Default)]
struct Waiting {
    answers: HashMap<String, oneshot::Sender<Result<Answer, AskError>>>,
    messages: HashMap<String, oneshot::Sender<JsonText>>,
}

/// What the hooks and permissions of sessions are made from.
struct Callbacks {
    scene: watch::Sender<Scene>,
    asking: Asking,
}

/// A session whose events have not ended.
pub(super) struct Open {
    pub(super) generation: Generation,
    pub(super) events: EventStream,
}

/// What the current session can do.
struct Live {
    handle: SessionHandle,
    models: Models,
    extras: Extras,
}

impl Orders {
    pub(super) fn new(options: ServerOptions, pump: mpsc::UnboundedSender<Message>) -> Self {
        let asking = Asking::new(pump, Arc::clone(&options.ids));
        if let Some(control) = &options.mcp.control {
            control.attach(HostMcp::new(asking.clone()));
        }
        let copying = options.reports.mirror.as_ref().map(|mirror| Copying::new(mirror, Arc::clone(&options.ids)));
        let scene = Scene { permission_mode: options.permissions.mode, ..Scene::default() };
        Self {
            options,
            sessions: Vec::new(),
            handles: BTreeMap::new(),
            given_up: watch::Sender::default(),
            live: None,
            generation: 0,
            broken: None,
            jobs: JoinSet::new(),
            timers: BTreeMap::new(),
            keep_alive: None,
            copying,
            waiting: Waiting::default(),
            callbacks: Callbacks { scene: watch::Sender::new(scene), asking },
            inputs: VecDeque::new(),
        }
    }

    /// What a session is opened with.
    pub(super) fn setup(&self, opening: Opening) -> HostSetup {
        let Opening { settings, initialize } = opening;
        let Callbacks { scene, asking } = &self.callbacks;
        let hooks = HostHooks::new(asking.clone(), scene.subscribe());
        let permissions = self.options.permissions.prompts.then(|| HostPermissions::new(asking.clone()));
        HostSetup {
            initialize,
            permission_mode: settings.permission_mode,
            model: settings.model,
            thinking: settings.thinking,
            environment: settings.environment,
            fresh: settings.is_fresh,
            hooks,
            permissions,
        }
    }

    /// Takes over a session that is open.
    pub(super) fn opened(&mut self, opened: Result<Opened, OpenFailure>) -> (Input, Option<OpenFailure>) {
        let Opened { session, transcript, models, mut extras } = match opened {
            Ok(opened) => opened,
            Err(failure) => return (Input::Conversation(Turn::NotOpened(failure.to_string())), Some(failure)),
        };
        for notice in session.notices {
            tracing::warn!("{notice}");
        }
        self.generation += 1;
        let handle = session.handle;
        let mut facts = SessionFacts::default();
        facts.session_id = handle.session_id().to_string();
        facts.transcript = transcript;
        facts.commands = extras.commands.as_mut().map(|(commands, _)| std::mem::take(commands));
        facts.thinking = extras.thinking;
        facts.compacts_on_request_only = extras.compacts_on_request_only;
        facts.permission_mode = extras.permission_mode;
        facts.initial_prompt = std::mem::take(&mut extras.initial_prompt);
        facts.pending = session.pending_questions.iter().map(left_open).collect();
        facts.title = extras.title.take();
        facts.can_be_renamed = extras.rename.is_some();
        let host = HostFacts {
            settings: extras.settings.take(),
            agents: extras.agents.take(),
            output_style: extras.output_style.take(),
        };
        self.sessions.push(Open { generation: self.generation, events: session.events });
        self.handles.insert(self.generation, handle.clone());
        self.live = Some(Live { handle, models, extras });
        let offer = self.options.plugins.as_ref().map(|plugins| plugins.offer());
        (Input::Opened(Box::new(facts), Box::new(host), offer), None)
    }

    /// The events of a session have ended.
    pub(super) fn ended(&mut self, generation: Generation, error: Option<SessionError>) -> Input {
        self.sessions.retain(|open| open.generation != generation);
        let text = error.as_ref().map(ToString::to_string);
        if generation == self.generation {
            self.broken = error;
        }
        Input::Conversation(Turn::Ended(generation, text))
    }

    /// What `system/init` lists besides the session.
    pub(super) fn listed(&self) -> Input {
        let plugins = self.options.plugins.as_ref().map(|plugins| plugins.listing());
        Input::Listed(self.servers(), plugins.unwrap_or_default())
    }

    fn servers(&self) -> Vec<McpStatus> {
        self.options.mcp.control.as_ref().map(|control| control.status()).unwrap_or_default()
    }

    /// Takes the requests of hooks, permissions and MCP servers to the host.
    pub(super) fn message(&mut self, message: Message) -> Input {
        match message {
            Message::Question(question, line, answer) => {
                self.waiting.answers.insert(question.id.clone(), answer);
                Input::Question(question, line)
            }
            Message::Receive { server, receiver, message } => {
                self.waiting.messages.insert(receiver.clone(), message);
                Input::Receive { server, receiver }
            }
            Message::Dropped(id) => {
                self.waiting.answers.remove(&id);
                self.waiting.messages.remove(&id);
                Input::Dropped(id)
            }
            Message::Listen(server) => Input::Listen(server),
            Message::Undelivered { server, message } => Input::Undelivered { server, message },
            Message::McpServer(news) => Input::McpServer(news),
        }
    }

    /// Carries out an order that concerns no opening and no end.
    pub(super) fn carry_out(&mut self, order: Order) {
        match order {
            Order::Conversation(order) => self.converse(order),
            Order::RenewHooks => {
                if let Some(live) = &self.live {
                    // An error means that the session has ended, and its events show that.
                    let _ = live.handle.renew_hooks();
                }
            }
            Order::Begin(ticket, job) => self.begin(ticket, job),
            Order::KeepAlive(wait) => self.keep_alive = Some(Box::pin(sleep(wait))),
            Order::Scene(scene) => drop(self.callbacks.scene.send_replace(*scene)),
            Order::Announce(servers) => {
                if let Some(control) = &self.options.mcp.control {
                    control.announce(&servers);
                }
            }
            Order::Answer(id, answer) => {
                if let Some(waiting) = self.waiting.answers.remove(&id) {
                    // It fails only when the asker is gone.
                    let _ = waiting.send(answer);
                }
            }
            Order::Deliver { server, receiver, message } => self.deliver(server, &receiver, message),
            Order::NoMessage(receiver) => drop(self.waiting.messages.remove(&receiver)),
            Order::Open(_) => {}
        }
    }

    /// Carries out an order of the conversation.
    fn converse(&mut self, order: ConversationOrder) {
        match order {
            ConversationOrder::Session(order) => self.order_session(order),
            ConversationOrder::Close(generation) => self.close(generation),
            ConversationOrder::AwaitSettled(wait) => match &self.live {
                Some(live) => {
                    let settled = live.handle.settled().map(move |()| Input::Conversation(Turn::Settled(wait)));
                    self.jobs.spawn(settled);
                }
                None => self.inputs.push_back(Input::Conversation(Turn::Settled(wait))),
            },
            ConversationOrder::AwaitQuiet(wait) => match &self.live {
                Some(live) => {
                    let quiet = live.handle.quiet().map(move |()| Input::Conversation(Turn::Quiet(wait)));
                    self.jobs.spawn(quiet);
                }
                None => self.inputs.push_back(Input::Conversation(Turn::Quiet(wait))),
            },
            ConversationOrder::Expand { name, arguments } => self.expand(name, arguments),
            ConversationOrder::Begin(ticket, job) => self.begin_in_session(ticket, job),
            ConversationOrder::CopyLog => match &mut self.copying {
                Some(copying) => copying.order(),
                None => self.inputs.push_back(Input::Conversation(Turn::LogCopied)),
            },
            ConversationOrder::Wake(timer, wait) => drop(self.timers.insert(timer, Box::pin(sleep(wait)))),
            _ => {}
        }
    }

    fn expand(&mut self, name: String, arguments: String) {
        let expand = self.live.as_ref().and_then(|live| live.extras.commands.as_ref());
        match expand {
            Some((_, expand)) => {
                // A panic is no reason for the turn to wait for ever.
                let expanded = AssertUnwindSafe(expand(name, arguments)).catch_unwind();
                let failed = |_| Err("the command could not be read: it panicked".to_owned());
                let input = |expanded| Input::Conversation(Turn::Expanded(expanded));
                self.jobs.spawn(expanded.map(move |done| input(done.unwrap_or_else(failed))));
            }
            None => self.inputs.push_back(Input::Conversation(Turn::Expanded(Ok(None)))),
        }
    }

    fn deliver(&mut self, server: String, receiver: &str, message: JsonText) {
        let given = match self.waiting.messages.remove(receiver) {
            Some(waiting) => waiting.send(message),
            None => Err(message),
        };
        if let Err(message) = given {
            self.inputs.push_back(Input::Undelivered { server, message });
        }
    }

    /// Gives the session an order. That fails only when it has ended, and its events show that.
    fn order_session(&mut self, order: SessionOrder) {
        let Some(Live { handle, models, extras }) = &self.live else { return };
        let _ = match order {
            SessionOrder::Prompt(prompt) => {
                if let Some(before) = &extras.before_prompts {
                    let changed = before().map(|commands| Input::Conversation(Turn::CommandsChanged(commands)));
                    self.inputs.extend(changed);
                }
                handle.prompt(prompt)
            }
            SessionOrder::Offer(prompt) => handle.offer(prompt),
            SessionOrder::Withdraw(id) => handle.withdraw(id),
            SessionOrder::Interrupt => handle.interrupt(),
            SessionOrder::PermissionMode(mode) => handle.set_permission_mode(mode),
            SessionOrder::Model(name) => handle.set_model(models(name.as_deref())),
            SessionOrder::Thinking(thinking) => handle.set_thinking(thinking),
            SessionOrder::Effort(effort) => handle.set_effort(effort),
            SessionOrder::Permissions(updates) => handle.update_permissions(updates),
            SessionOrder::StopTask(id) => handle.stop_task(id),
            SessionOrder::Environment(variables) => {
                if let Some(take) = &extras.environment {
                    take(&variables);
                }
                Ok(())
            }
            _ => Ok(()),
        };
    }

    fn close(&mut self, generation: Generation) {
        let handle = self.handles.remove(&generation);
        let mut given_up = self.given_up.subscribe();
        self.jobs.spawn(async move {
            if let Some(handle) = handle {
                // What could not be stored is reported where its events end.
                let given_up = async { given_up.wait_for(Option::is_some).await.ok().and_then(|waited| *waited) };
                tokio::select! {
                    _ = handle.close() => {}
                    Some(waited) = given_up => handle.give_up_log(waited),
                }
                let _ = handle.close().await;
            }
            Input::Conversation(Turn::SessionClosed(generation))
        });
    }

    /// Has sessions that are closed wait no longer for logs, after `waited`.
    pub(super) fn give_up_logs(&mut self, waited: Duration) {
        self.given_up.send_replace(Some(waited));
    }

    fn begin(&mut self, ticket: Ticket, job: Job) {
        match job {
            Job::Mcp(job) => match self.options.mcp.control.clone() {
                Some(control) => self.spawn(ticket, async move { Outcome::Mcp(order_mcp(control, job).await) }),
                None => self.done(ticket, Outcome::Mcp(Err("MCP servers are not supported here".to_owned()))),
            },
            Job::McpStatus => self.done(ticket, Outcome::McpStatus(self.servers())),
            Job::Reload(order) => self.reload(ticket, order),
            Job::Initialize(what) => self.initialize(ticket, what),
        }
    }

    /// Begins a job of the conversation, which concerns the open session.
    fn begin_in_session(&mut self, ticket: Ticket, job: SessionJob) {
        let live = self.live.as_ref();
        match job {
            SessionJob::Rename(title) => match live.and_then(|live| live.extras.rename.as_ref()) {
                Some(rename) => {
                    let renamed = rename(title);
                    self.spawn_in_session(ticket, async move {
                        JobOutcome::Renamed(renamed.await.map_err(|error| error.to_string()))
                    });
                }
                None => self.done_in_session(ticket, JobOutcome::Renamed(Err("the session is not open".to_owned()))),
            },
            SessionJob::FileEnd(path, most) => self.spawn_in_session(ticket, async move {
                let (tail, total) = tail(&path, most).await.unwrap_or_default();
                JobOutcome::FileEnd(tail, total)
            }),
            SessionJob::Rewind { to, scope, dry_run } => self.rewind(ticket, to, scope, dry_run),
            SessionJob::Context => match live.map(|live| live.handle.clone()) {
                Some(handle) => self.spawn_in_session(ticket, async move {
                    JobOutcome::Context(handle.context_usage().await.ok().map(Box::new))
                }),
                None => self.done_in_session(ticket, JobOutcome::Context(None)),
            },
            SessionJob::PermissionMode => match live.map(|live| live.handle.clone()) {
                Some(handle) => self.spawn_in_session(ticket, async move {
                    JobOutcome::PermissionMode(handle.permission_mode().await.ok())
                }),
                None => self.done_in_session(ticket, JobOutcome::PermissionMode(None)),
            },
            SessionJob::MoveToBackground(call) => match live.map(|live| live.handle.move_to_background(call)) {
                Some(moved) => self.spawn_in_session(ticket, moved.map(JobOutcome::Moved)),
                None => self.done_in_session(ticket, JobOutcome::Moved(false)),
            },
            _ => self.done_in_session(ticket, JobOutcome::Failed("this job is not known here")),
        }
    }

    fn done_in_session(&mut self, ticket: Ticket, outcome: JobOutcome) {
        self.inputs.push_back(Input::Conversation(Turn::Done(ticket, outcome)));
    }

    fn spawn_in_session(&mut self, ticket: Ticket, outcome: impl Future<Output = JobOutcome> + Send + 'static) {
        let failed = |_| JobOutcome::Failed("carrying out the order failed: it panicked");
        let outcome = AssertUnwindSafe(outcome).catch_unwind().map(move |done| done.unwrap_or_else(failed));
        self.jobs.spawn(outcome.map(move |outcome| Input::Conversation(Turn::Done(ticket, outcome))));
    }

    fn done(&mut self, ticket: Ticket, outcome: Outcome) {
        self.inputs.push_back(Input::Done(ticket, outcome));
    }

    fn spawn(&mut self, ticket: Ticket, outcome: impl Future<Output = Outcome> + Send + 'static) {
        let failed = |_| Outcome::Failed("carrying out the order failed: it panicked");
        let outcome = AssertUnwindSafe(outcome).catch_unwind().map(move |done| done.unwrap_or_else(failed));
        self.jobs.spawn(outcome.map(move |outcome| Input::Done(ticket, outcome)));
    }

    /// Rewinds the session. The order is given before this returns: prompts that come later wait for it.
    fn rewind(&mut self, ticket: Ticket, to: EntryId, scope: RewindScope, dry_run: bool) {
        let outcome = |rewound: Result<Rewound, RewindError>| {
            let failure = |error: RewindError| NotRewound {
                is_running: matches!(error, RewindError::Running),
                reason: error.to_string(),
            };
            JobOutcome::Rewound(rewound.map_err(failure))
        };
        let Some(handle) = self.live.as_ref().map(|live| live.handle.clone()) else {
            return self.done_in_session(ticket, outcome(Err(RewindError::Closed)));
        };
        if scope == RewindScope::Files {
            let files =
                if dry_run { Either::Left(handle.file_changes(&to)) } else { Either::Right(handle.rewind_files(&to)) };
            let of_files = |files| Rewound::new(Some(files), None, None);
            return self.spawn_in_session(ticket, files.map(move |files| outcome(files.map(of_files))));
        }
        self.spawn_in_session(ticket, async move {
            let with_files = scope == RewindScope::Both;
            outcome(if dry_run {
                conversation_changes(&handle, &to, with_files).await
            } else {
                rewind_conversation(&handle, &to, with_files).await
            })
        });
    }

    fn reload(&mut self, ticket: Ticket, order: PluginReload) {
        let (Some(plugins), mcp) = (self.options.plugins.clone(), self.options.mcp.control.clone()) else {
            return self.done(ticket, Outcome::Reloaded(Err("there are no plugins".to_owned())));
        };
        self.spawn(ticket, async move {
            // It reads files.
            let reloaded = tokio::task::spawn_blocking(move || {
                let reloaded = plugins.reload(&order)?;
                let servers = mcp.map(|control| control.status()).unwrap_or_default();
                Ok(Box::new(Reloaded { reloaded, offer: plugins.offer(), listing: plugins.listing(), servers }))
            });
            Outcome::Reloaded(reloaded.await.unwrap_or_else(|_| Err("loading the plugins failed".to_owned())))
        });
    }

    fn initialize(&mut self, ticket: Ticket, what: Initialization) {
        let Initialization { plugins: named, servers, in_process } = what;
        let (plugins, mcp) = (self.options.plugins.clone(), self.options.mcp.control.clone());
        let then = move |launched: Option<bool>, offer| {
            // Servers of the host count for more than those that files define, which begin with the announcement.
            let taken = servers.map(|servers| mcp.as_ref().is_some_and(|control| control.configure(&servers)));
            if let Some(control) = &mcp {
                control.announce(&in_process);
            }
            Outcome::Initialized(Initialized { plugins: launched, servers: taken, offer })
        };
        match (named, plugins) {
            (Some(named), Some(plugins)) => self.spawn(ticket, async move {
                // It reads files.
                let launched = tokio::task::spawn_blocking(move || (plugins.launch(&named), plugins.offer()));
                let (launched, offer) = launched.await.map_or((false, None), |(done, offer)| (done, Some(offer)));
                then(Some(launched), offer)
            }),
            (named, plugins) => {
                let outcome = then(named.map(|_| false), plugins.map(|plugins| plugins.offer()));
                self.done(ticket, outcome);
            }
        }
    }
}

/// The call of a question that an earlier opening left open.
fn left_open(asked: &StoredQuestion) -> CallReference {
    CallReference::of(asked.identity.as_ref(), &asked.question.tool_use_id)
}
