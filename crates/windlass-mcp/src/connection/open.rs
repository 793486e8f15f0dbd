//! How a connection begins.

use super::Connection;
use super::call::CallLimits;
use super::ending::{Ended, Ending};
use crate::calls::Calls;
use crate::greeting::{Greeting, greet, unknown_version};
use crate::listener::Listener;
use crate::process::{Process, Spec};
use crate::program::find;
use crate::text::clipped;
use crate::transport::{HostTransport, Lines, Sent, http_transport};
use crate::{McpError, McpOptions, McpServerConfig, McpServerInfo, McpTransport};
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{ClientLifecycleMode, RoleClient, RunningService};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::time::timeout;

/// Longest instructions of a server, in characters.
const LONGEST_INSTRUCTIONS: usize = 10_000;
/// How long a program that did not greet may take to end.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How a server describes itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Introduction {
    pub(crate) info: Option<McpServerInfo>,
    /// How its tools are to be used.
    pub(crate) instructions: Option<String>,
    /// Whether it has prompts.
    pub(crate) has_prompts: bool,
}

impl Introduction {
    fn of(greeting: &ServerPeerInfo) -> Self {
        let info = greeting
            .server_info
            .as_ref()
            .map(|named| McpServerInfo { name: clipped(&named.name, 200), version: clipped(&named.version, 200) });
        let instructions = greeting.instructions.as_ref().map(|text| clipped(text, LONGEST_INSTRUCTIONS));
        Self { info, instructions, has_prompts: greeting.capabilities.prompts.is_some() }
    }
}

/// What is known of the requests of a connection while it is opened.
#[derive(Clone, Default)]
struct Requests {
    sent: Sent,
    spent: Arc<AtomicBool>,
}

/// A server that was reached and has greeted.
struct Reached {
    service: RunningService<RoleClient, Listener>,
    process: Option<Process>,
}

impl Reached {
    async fn over(
        transport: &McpTransport,
        options: &McpOptions,
        Requests { sent, spent }: &Requests,
        listener: Listener,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, Greeting> {
        let service = match transport {
            McpTransport::Stdio { command, args, env } => {
                let (process, lines) = start(command, args, env, options, sent.clone())?;
                let greeted = greet(listener, lines, lifecycle).await;
                return match greeted {
                    Ok(service) => Ok(Self { service, process: Some(process) }),
                    Err(failed) => Err(with_last_words(failed, &process).await),
                };
            }
            McpTransport::Http { url, headers } => {
                let agent = format!("{}/{}", options.client_name, options.client_version);
                let transport = http_transport(url, headers, &agent, (sent.clone(), Arc::clone(spent)))
                    .map_err(Greeting::Failed)?;
                greet(listener, transport, lifecycle).await?
            }
            McpTransport::Sse { .. } => return Err(Greeting::Unsupported("the older HTTP transport (`sse`)")),
            McpTransport::InProcess(None) => return Err(Greeting::Failed("the host has no such server".to_owned())),
            McpTransport::InProcess(Some(channel)) => {
                greet(listener, HostTransport::new(Arc::clone(channel), sent.clone()), lifecycle).await?
            }
        };
        Ok(Self { service, process: None })
    }
}

/// The end of a program explains more than the end of its connection.
async fn with_last_words(failed: Greeting, process: &Process) -> Greeting {
    process.stop();
    let _ = timeout(LAST_WORDS, process.ended()).await;
    let words = process.words();
    match failed {
        Greeting::Failed(error) => {
            let exit = Some(words.exit()).filter(|exit| !exit.is_empty());
            let reason = std::iter::once(error).chain(exit).collect::<Vec<_>>().join("; ");
            Greeting::Ended { reason, output: words.output() }
        }
        other => other,
    }
}

impl Connection {
    /// Starts or reaches a server and greets it.
    pub(crate) async fn open(
        name: &str,
        config: &McpServerConfig,
        options: &McpOptions,
    ) -> Result<(Self, Ended), McpError> {
        let legacy = ClientLifecycleMode::Initialize;
        match Self::open_with(name, config, options, legacy).await {
            // Servers of newer protocol versions alone have no handshake.
            Err(Greeting::NoHandshake) => {
                let modern = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                Self::open_with(name, config, options, modern).await.map_err(|failed| failed.into_error(name))
            }
            other => other.map_err(|failed| failed.into_error(name)),
        }
    }

    async fn open_with(
        name: &str,
        config: &McpServerConfig,
        options: &McpOptions,
        lifecycle: ClientLifecycleMode,
    ) -> Result<(Self, Ended), Greeting> {
        let client = (options.client_name.as_str(), options.client_version.as_str());
        let (listener, heard) = Listener::new(name, client, options.elicitation.clone());
        let requests = Requests::default();
        let Reached { service, process } =
            Reached::over(&config.transport, options, &requests, listener, lifecycle).await?;
        let peer = service.peer().clone();
        let greeting = peer.peer_info();
        if let Some(version) = greeting.as_ref().and_then(|greeting| unknown_version(&greeting.protocol_version)) {
            // Dropping what was opened ends it.
            return Err(Greeting::UnknownVersion(version));
        }
        let introduction = greeting.as_deref().map(Introduction::of).unwrap_or_default();
        let (ending, ended) = Ending::of(service, process);
        let connection = Self {
            server: name.to_owned(),
            peer,
            heard,
            introduction,
            ending,
            sent: requests.sent,
            spent: requests.spent,
            ended: AtomicBool::new(false),
            calls: Calls::default(),
            limits: CallLimits { whole: config.timeout, silence: options.call_timeout },
        };
        Ok((connection, ended))
    }
}

fn start(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    options: &McpOptions,
    sent: Sent,
) -> Result<(Process, Lines), Greeting> {
    let cwd = options.cwd.as_deref().unwrap_or(Path::new("."));
    let own = env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let env: Vec<(OsString, OsString)> = options.env.iter().cloned().chain(own).collect();
    let program = find(command, &env, cwd).map_err(Greeting::Failed)?;
    let spec = Spec { program, args, env, cwd, watch: options.watch.as_deref() };
    let (process, stdin, stdout) =
        Process::start(spec).map_err(|error| Greeting::Failed(format!("{command:?} cannot be started: {error}")))?;
    let lines = Lines::new(stdout, stdin, process.words().fault.clone(), sent);
    Ok((process, lines))
}
