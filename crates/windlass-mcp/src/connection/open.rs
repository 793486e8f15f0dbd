//! Opening of a connection.

use super::Connection;
use super::call::CallLimits;
use super::ending::{ConnectionCloser, ConnectionEnd};
use super::lifecycle::ConnectionLifecycle;
use crate::answers::Answers;
use crate::calls::ConnectionCalls;
use crate::confine::spec;
use crate::greeting::{GreetingFailure, greet, unknown_version};
use crate::headers::headers_of;
use crate::icon::icons_of;
use crate::listener::ServerListener;
use crate::process::ServerProcess;
use crate::program::find;
use crate::text::clipped;
use crate::transport::{Address, HostTransport, LineTransport, Sent, SseTransport, http_transport};
use crate::{McpError, McpOptions, McpServerConfig, McpServerInfo, McpTransport};
use rmcp::model::{ServerPeerInfo, SubscriptionFilter};
use rmcp::service::{ClientLifecycleMode, RoleClient, RunningService};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::time::timeout;
use windlass_tool::ProcessCommand;

/// Maximum length of a server's instructions, in characters.
const MAX_INSTRUCTION_CHARS: usize = 10_000;
/// Maximum time for a program that did not greet to end.
const EXIT_TIMEOUT: Duration = Duration::from_millis(100);

/// Description of a server by itself.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    /// Way in which the connection began.
    pub(crate) lifecycle: ConnectionLifecycle,
    pub(crate) info: Option<McpServerInfo>,
    /// Instructions for the use of the server's tools.
    pub(crate) instructions: Option<String>,
    /// `true` if the server has prompts.
    pub(crate) has_prompts: bool,
    /// `true` if the server has resources.
    pub(crate) has_resources: bool,
    /// Reports of changes to subscribe to; `None` if the server reports unasked or not at all.
    pub(crate) reports: Option<SubscriptionFilter>,
    /// `true` if the server reports changes of resources to subscribers.
    pub(crate) reports_resources: bool,
}

impl Introduction {
    fn of(greeting: Option<&ServerPeerInfo>, lifecycle: ConnectionLifecycle) -> Self {
        let mut introduction = Self {
            lifecycle,
            info: None,
            instructions: None,
            has_prompts: false,
            has_resources: false,
            reports: None,
            reports_resources: false,
        };
        let Some(greeting) = greeting else { return introduction };
        introduction.info = greeting.server_info.as_ref().map(|named| McpServerInfo {
            name: clipped(&named.name, 200),
            version: clipped(&named.version, 200),
            title: named.title.as_deref().filter(|title| !title.is_empty()).map(|title| clipped(title, 200)),
            icons: icons_of(&named.icons),
        });
        introduction.instructions = greeting.instructions.as_ref().map(|text| clipped(text, MAX_INSTRUCTION_CHARS));
        introduction.has_prompts = greeting.capabilities.prompts.is_some();
        introduction.has_resources = greeting.capabilities.resources.is_some();
        let reports_tools = greeting.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true));
        let resources = greeting.capabilities.resources.as_ref();
        introduction.reports_resources = resources.is_some_and(|resources| resources.subscribe == Some(true));
        let wants_any = reports_tools || introduction.reports_resources;
        introduction.reports = (wants_any && !greeting.protocol_version.has_initialize()).then(|| {
            let mut filter = SubscriptionFilter::new();
            filter.tools_list_changed = reports_tools.then_some(true);
            filter
        });
        introduction
    }
}

/// State of the requests of a connection while it is opened.
#[derive(Clone, Default)]
struct OpeningRequests {
    sent: Sent,
    spent: Arc<AtomicBool>,
}

/// Server that was reached and has greeted.
struct Reached {
    service: RunningService<RoleClient, ServerListener>,
    process: Option<ServerProcess>,
}

impl Reached {
    async fn over(
        name: &str,
        config: &McpServerConfig,
        options: &McpOptions,
        OpeningRequests { sent, spent }: &OpeningRequests,
        listener: ServerListener,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, GreetingFailure> {
        let agent = format!("{}/{}", options.client.name, options.client.version);
        let service = match &config.transport {
            McpTransport::Stdio { command, args, env } => {
                let (process, lines) = start(name, config, (command, args, env), options, sent.clone()).await?;
                let greeted = greet(listener, lines, lifecycle).await;
                return match greeted {
                    Ok(service) => Ok(Self { service, process: Some(process) }),
                    Err(failed) => Err(with_last_words(failed, &process).await),
                };
            }
            McpTransport::Http { url, headers } => {
                let headers = headers_of(name, config, (url, headers), options).await?;
                let address = Address::new(url, &headers, &agent, config.authorizer.clone())
                    .map_err(GreetingFailure::Unreached)?;
                greet(listener, http_transport(address, sent.clone(), Arc::clone(spent)), lifecycle).await?
            }
            McpTransport::Sse { url, headers } => {
                let headers = headers_of(name, config, (url, headers), options).await?;
                let address = Address::new(url, &headers, &agent, config.authorizer.clone())
                    .map_err(GreetingFailure::Unreached)?;
                greet(listener, SseTransport::open(address, sent.clone()).await?, lifecycle).await?
            }
            McpTransport::InProcess(None) => {
                return Err(GreetingFailure::Failed("the host has no such server".to_owned()));
            }
            McpTransport::InProcess(Some(channel)) => {
                greet(listener, HostTransport::new(Arc::clone(channel), sent.clone()), lifecycle).await?
            }
        };
        Ok(Self { service, process: None })
    }
}

/// Adds the last output of a program to a failed greeting: the end of a program explains more than the end of its
/// connection.
async fn with_last_words(failed: GreetingFailure, process: &ServerProcess) -> GreetingFailure {
    process.stop();
    let _ = timeout(EXIT_TIMEOUT, process.ended()).await;
    let words = process.words();
    match failed {
        GreetingFailure::Failed(error) => {
            let exit = Some(words.exit()).filter(|exit| !exit.is_empty());
            let reason = std::iter::once(error).chain(exit).collect::<Vec<_>>().join("; ");
            GreetingFailure::Ended { reason, output: words.output() }
        }
        other => other,
    }
}

impl Connection {
    /// Starts or reaches a server and greets it: first in the way that is known to work, if one is known.
    pub(crate) async fn open(
        name: &str,
        config: &McpServerConfig,
        options: &McpOptions,
        known: Option<ConnectionLifecycle>,
    ) -> Result<(Self, ConnectionEnd), McpError> {
        let [first, second] = ConnectionLifecycle::order(&config.transport, known);
        let open = |lifecycle| Self::open_with(name, config, options, lifecycle);
        let mut is_late = false;
        let limit = first.limit(known.is_none(), options.limits.connect);
        let opened = timeout(limit, open(first)).await.unwrap_or_else(|_| {
            is_late = true;
            Err(GreetingFailure::NoSuchLifecycle)
        });
        let failed = match opened {
            Err(failed) if first.may_be_other(&failed) => failed,
            other => return other.map_err(|failed| failed.into_error(name)),
        };
        let limit = second.limit(matches!(failed, GreetingFailure::Refused(_)), options.limits.connect);
        let mut opened = timeout(limit, open(second)).await.unwrap_or(Err(GreetingFailure::NoSuchLifecycle));
        if is_late && matches!(&opened, Err(again) if again.is_other_lifecycle()) {
            // The server does answer, and was only slow: it is asked again within the remaining time.
            opened = open(first).await;
        }
        opened.map_err(|again| first.better(failed, again).into_error(name))
    }

    async fn open_with(
        name: &str,
        config: &McpServerConfig,
        options: &McpOptions,
        lifecycle: ConnectionLifecycle,
    ) -> Result<(Self, ConnectionEnd), GreetingFailure> {
        let answers = Arc::new(Answers::new(name, config, options));
        let (listener, heard) = ServerListener::new(name, options, Arc::clone(&answers), lifecycle);
        let requests = OpeningRequests::default();
        let Reached { service, process } =
            Reached::over(name, config, options, &requests, listener, lifecycle.mode()).await?;
        let peer = service.peer().clone();
        let greeting = peer.peer_info();
        if let Some(version) = greeting.as_ref().and_then(|greeting| unknown_version(&greeting.protocol_version)) {
            // Dropping the opened connection ends it.
            return Err(GreetingFailure::UnknownVersion(version));
        }
        let introduction = Introduction::of(greeting.as_deref(), lifecycle);
        let (ending, ended) = ConnectionCloser::of(service, process);
        let connection = Self {
            server: name.to_owned(),
            peer,
            heard,
            answers,
            introduction,
            ending,
            sent: requests.sent,
            spent: requests.spent,
            ended: AtomicBool::new(false),
            calls: ConnectionCalls::default(),
            limits: CallLimits { whole: config.timeout, silence: options.limits.call, rounds: options.limits.rounds },
        };
        Ok((connection, ended))
    }
}

async fn start(
    name: &str,
    config: &McpServerConfig,
    (program, args, own): (&str, &[String], &BTreeMap<String, String>),
    options: &McpOptions,
    sent: Sent,
) -> Result<(ServerProcess, LineTransport), GreetingFailure> {
    let own = own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let (cwd, env) = config.surroundings(options, own);
    let found = find(program, &env, &cwd).map_err(GreetingFailure::Failed)?;
    let mut command = ProcessCommand::new(found, cwd);
    (command.args, command.env) = (args.iter().map(OsString::from).collect(), env);
    // The server runs concurrently with all tools, and files written meanwhile may be the user's.
    command.background = true;
    let spec = spec(name, command, config.confinement.as_deref(), options).await.map_err(GreetingFailure::Failed)?;
    let (process, stdin, stdout) = ServerProcess::start(spec)
        .map_err(|error| GreetingFailure::Failed(format!("{program:?} cannot be started: {error}")))?;
    let lines = LineTransport::new(stdout, stdin, process.words().fault.clone(), sent);
    Ok((process, lines))
}
