//! Execution of the machine's orders.

use super::asking::{HostRequests, PumpMessage};
use super::hooks::HostHooks;
use super::jobs::order_mcp;
use super::machine::io::{
    Initialization, Initialized, JobNumber, Reloaded, ServerEffect, ServerInput, ServerJob, ServerJobOutcome,
    SessionOpening,
};
use super::mcp::{HostMcp, McpStatus};
use super::mirror::Copying;
use super::options::ServerOptions;
use super::permission::HostPermissions;
use super::plugins::PluginReload;
use super::scene::Scene;
use super::setup::{HostSetup, Opened};
use crate::channel::requests::{AskError, HostResponse};
use futures_util::FutureExt;
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};
use windlass_blocking::run_blocking;
use windlass_conversation::{Input as Turn, OpenFailure, Order as ConversationOrder, SessionDriver};
use windlass_types::JsonText;

/// All effects of a server: sessions, MCP servers, disks, clocks, and the tasks that wait for answers.
pub(super) struct EffectExecutor {
    options: ServerOptions,
    /// Sessions of the conversation.
    pub(super) sessions: SessionDriver,
    /// Running jobs. The outcomes are inputs.
    pub(super) jobs: JoinSet<ServerInput>,
    /// Timer of the next keep-alive.
    pub(super) keep_alive: Option<Pin<Box<Sleep>>>,
    pub(super) copying: Option<Copying>,
    /// Tasks that wait for answers and messages of the host.
    waiting: WaitingTasks,
    callbacks: SessionCallbacks,
    /// Inputs that are passed to the machine first.
    pub(super) inputs: VecDeque<ServerInput>,
}

#[derive(Default)]
struct WaitingTasks {
    answers: HashMap<String, oneshot::Sender<Result<HostResponse, AskError>>>,
    messages: HashMap<String, oneshot::Sender<JsonText>>,
}

/// Parts of the hooks and permissions of sessions.
struct SessionCallbacks {
    scene: watch::Sender<Scene>,
    asking: HostRequests,
}

impl EffectExecutor {
    pub(super) fn new(options: ServerOptions, pump: mpsc::UnboundedSender<PumpMessage>) -> Self {
        let asking = HostRequests::new(pump, Arc::clone(&options.ids));
        if let Some(control) = &options.mcp.control {
            control.attach(HostMcp::new(asking.clone()));
        }
        let copying = options.reports.mirror.as_ref().map(|mirror| Copying::new(mirror, Arc::clone(&options.ids)));
        let scene = Scene { permission_mode: options.permissions.mode, ..Scene::default() };
        Self {
            options,
            sessions: SessionDriver::default(),
            jobs: JoinSet::new(),
            keep_alive: None,
            copying,
            waiting: WaitingTasks::default(),
            callbacks: SessionCallbacks { scene: watch::Sender::new(scene), asking },
            inputs: VecDeque::new(),
        }
    }

    /// Setup for opening a session.
    pub(super) fn setup(&self, opening: SessionOpening) -> HostSetup {
        let SessionOpening { settings, initialize } = opening;
        let SessionCallbacks { scene, asking } = &self.callbacks;
        let hooks = HostHooks::new(asking.clone(), scene.subscribe());
        let permissions = self.options.permissions.prompts.then(|| HostPermissions::new(asking.clone()));
        HostSetup { initialize, settings, hooks, permissions }
    }

    /// Takes over an open session.
    pub(super) fn opened(&mut self, opened: Result<Opened, OpenFailure>) -> (ServerInput, Option<OpenFailure>) {
        let Opened { session, facts } = match opened {
            Ok(opened) => opened,
            Err(failure) => return (ServerInput::Conversation(Turn::NotOpened(failure.to_string())), Some(failure)),
        };
        let opened = Box::new(self.sessions.opened(session));
        let offer = self.options.plugins.as_ref().map(|plugins| plugins.offer());
        (ServerInput::Opened(opened, Box::new(facts), offer), None)
    }

    /// Lists in `system/init` beside the session.
    pub(super) fn listed(&self) -> ServerInput {
        let plugins = self.options.plugins.as_ref().map(|plugins| plugins.listing());
        ServerInput::Listed(self.servers(), plugins.unwrap_or_default())
    }

    fn servers(&self) -> Vec<McpStatus> {
        self.options.mcp.control.as_ref().map(|control| control.status()).unwrap_or_default()
    }

    /// Handles the requests of hooks, permissions and MCP servers to the host.
    pub(super) fn message(&mut self, message: PumpMessage) -> ServerInput {
        match message {
            PumpMessage::Question(question, line, answer) => {
                self.waiting.answers.insert(question.id.clone(), answer);
                ServerInput::Question(question, line)
            }
            PumpMessage::Receive { server, receiver, message } => {
                self.waiting.messages.insert(receiver.clone(), message);
                ServerInput::Receive { server, receiver }
            }
            PumpMessage::Dropped(id) => {
                self.waiting.answers.remove(&id);
                self.waiting.messages.remove(&id);
                ServerInput::Dropped(id)
            }
            PumpMessage::Listen(server) => ServerInput::Listen(server),
            PumpMessage::Undelivered { server, message } => ServerInput::Undelivered { server, message },
            PumpMessage::McpServer(news) => ServerInput::McpServer(news),
        }
    }

    /// Carries out an order other than opening and ending.
    pub(super) fn carry_out(&mut self, order: ServerEffect) {
        match order {
            ServerEffect::Conversation(order) => self.converse(order),
            ServerEffect::RenewHooks => {
                if let Some(session) = self.sessions.session() {
                    // An error means that the session has ended, and its events show that.
                    let _ = session.renew_hooks();
                }
            }
            ServerEffect::Begin(ticket, job) => self.begin(ticket, job),
            ServerEffect::KeepAlive(wait) => self.keep_alive = Some(Box::pin(sleep(wait))),
            ServerEffect::Scene(scene) => drop(self.callbacks.scene.send_replace(*scene)),
            ServerEffect::Announce(servers) => {
                if let Some(control) = &self.options.mcp.control {
                    control.announce(&servers);
                }
            }
            ServerEffect::Answer(id, answer) => {
                if let Some(waiting) = self.waiting.answers.remove(&id) {
                    // Fails only when the requester is gone.
                    let _ = waiting.send(answer);
                }
            }
            ServerEffect::Deliver { server, receiver, message } => self.deliver(server, &receiver, message),
            ServerEffect::NoMessage(receiver) => drop(self.waiting.messages.remove(&receiver)),
            ServerEffect::Open(_) => {}
        }
    }

    /// Carries out an order of the conversation.
    fn converse(&mut self, order: ConversationOrder) {
        if let Some(ConversationOrder::CopyLog) = self.sessions.carry_out(order) {
            match &mut self.copying {
                Some(copying) => copying.order(),
                None => self.inputs.push_back(ServerInput::Conversation(Turn::LogCopied)),
            }
        }
    }

    fn deliver(&mut self, server: String, receiver: &str, message: JsonText) {
        let delivery = match self.waiting.messages.remove(receiver) {
            Some(waiting) => waiting.send(message),
            None => Err(message),
        };
        if let Err(message) = delivery {
            self.inputs.push_back(ServerInput::Undelivered { server, message });
        }
    }

    fn begin(&mut self, ticket: JobNumber, job: ServerJob) {
        match job {
            ServerJob::Mcp(job) => match self.options.mcp.control.clone() {
                Some(control) => {
                    self.spawn(ticket, async move { ServerJobOutcome::Mcp(order_mcp(control, job).await) })
                }
                None => self.done(ticket, ServerJobOutcome::Mcp(Err("MCP servers are not supported here".to_owned()))),
            },
            ServerJob::McpStatus => self.done(ticket, ServerJobOutcome::McpStatus(self.servers())),
            ServerJob::Reload(order) => self.reload(ticket, order),
            ServerJob::Initialize(initialization) => self.initialize(ticket, initialization),
        }
    }

    fn done(&mut self, ticket: JobNumber, outcome: ServerJobOutcome) {
        self.inputs.push_back(ServerInput::Done(ticket, outcome));
    }

    fn spawn(&mut self, ticket: JobNumber, outcome: impl Future<Output = ServerJobOutcome> + Send + 'static) {
        let on_panic = |_| ServerJobOutcome::Failed("carrying out the order failed: it panicked");
        let outcome = AssertUnwindSafe(outcome).catch_unwind().map(move |done| done.unwrap_or_else(on_panic));
        self.jobs.spawn(outcome.map(move |outcome| ServerInput::Done(ticket, outcome)));
    }

    fn reload(&mut self, ticket: JobNumber, order: PluginReload) {
        let (Some(plugins), mcp) = (self.options.plugins.clone(), self.options.mcp.control.clone()) else {
            return self.done(ticket, ServerJobOutcome::Reloaded(Err("there are no plugins".to_owned())));
        };
        self.spawn(ticket, async move {
            // Blocking, because this reads files.
            let reloaded = run_blocking(move || {
                let reloaded = plugins.reload(&order)?;
                let servers = mcp.map(|control| control.status()).unwrap_or_default();
                Ok(Box::new(Reloaded { reloaded, offer: plugins.offer(), listing: plugins.listing(), servers }))
            });
            ServerJobOutcome::Reloaded(
                reloaded.await.unwrap_or_else(|reason| Err(format!("the plugins were not loaded: {reason}"))),
            )
        });
    }

    fn initialize(&mut self, ticket: JobNumber, initialization: Initialization) {
        let Initialization { plugins: requested, servers, in_process } = initialization;
        let (plugins, mcp) = (self.options.plugins.clone(), self.options.mcp.control.clone());
        let finish = move |launched: Option<bool>, offer| {
            // Servers of the host precede those that files define, which begin with the announcement.
            let configured = servers.map(|servers| mcp.as_ref().is_some_and(|control| control.configure(&servers)));
            if let Some(control) = &mcp {
                control.announce(&in_process);
            }
            ServerJobOutcome::Initialized(Initialized { plugins: launched, servers: configured, offer })
        };
        match (requested, plugins) {
            (Some(requested), Some(plugins)) => self.spawn(ticket, async move {
                // Blocking, because this reads files.
                let launched = run_blocking(move || (plugins.launch(&requested), plugins.offer()));
                let (launched, offer) = launched.await.map_or((false, None), |(done, offer)| (done, Some(offer)));
                finish(Some(launched), offer)
            }),
            (requested, plugins) => {
                let outcome = finish(requested.map(|_| false), plugins.map(|plugins| plugins.offer()));
                self.done(ticket, outcome);
            }
        }
    }
}
