//! Opening of sessions from flags, project, provider and servers.

use crate::args::RunArgs;
use crate::failure::of_start;
use crate::host::mcp::HostServers;
use crate::launch::{self, Driver};
use crate::mcp::configured::Configured;
use crate::provider::Provider;
use crate::run::{kept, resumed};
use std::path::Path;
use std::sync::Arc;
use windlass::SessionId;
use windlass::conversation::{ConversationOptions, OpenSession, SessionSettings};
use windlass::mcp::{Elicitation, McpServers};
use windlass::options::HostOptions;
use windlass::permission::CanUseTool;
use windlass::project::Agents;
use windlass::project::LoadedProject;

/// Opener of the sessions of one conversation. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Opening {
    args: Arc<RunArgs>,
    project: LoadedProject,
    servers: Option<Arc<HostServers>>,
}

impl Opening {
    /// Reads the project of `cwd`, a path with links followed, and begins to connect its servers. Problems of servers and
    /// notices of the project go to `notice`.
    /// Questions of servers go to `asked`.
    pub(crate) fn new(
        args: RunArgs,
        cwd: &Path,
        asked: Arc<dyn Elicitation>,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let project = launch::load(&args, cwd, Driver::Terminal)?;
        for found in project.take_notices() {
            notice(&found.text);
        }
        let configured = Configured::read(args.mcp.mcp_config.iter().map(String::as_str))?;
        for (_, problem) in &configured.problems {
            notice(problem);
        }
        let none = configured.servers.is_empty() && configured.problems.is_empty();
        let servers = HostServers::start_asking(configured, &project, asked);
        let servers = (!none || !project.servers().is_empty()).then(|| {
            project.servers().begin();
            Arc::new(servers)
        });
        project.on_notice(move |found| notice(&found.text));
        Ok(Self { args: Arc::new(args), project, servers })
    }

    /// The project.
    pub(crate) fn project(&self) -> &LoadedProject {
        &self.project
    }

    /// The MCP servers, if there are some.
    pub(crate) fn servers(&self) -> Option<&McpServers> {
        self.servers.as_ref().map(|servers| servers.set())
    }

    /// The flags.
    pub(crate) fn args(&self) -> &RunArgs {
        &self.args
    }

    /// The model that flags, the agent or settings name.
    ///
    /// # Errors
    /// Flags or the project keep a session from being opened.
    pub(crate) fn model(&self) -> anyhow::Result<Option<String>> {
        let builder = launch::options(&self.args, &self.project, (Driver::Terminal, Agents::default()))?;
        Ok(builder.resolve().map_err(of_start)?.options().model().map(str::to_owned))
    }

    /// `true` if sessions are kept on disk.
    pub(crate) fn keeps_sessions(&self) -> bool {
        !self.args.session.no_session_persistence
    }

    /// The options of the conversation.
    pub(crate) fn options(&self) -> ConversationOptions {
        launch::conversation_options(&self.args, &self.project)
    }

    /// Returns the session that flags resume, if they do.
    ///
    /// # Errors
    /// The session is missing, or the text does not identify one session.
    pub(crate) async fn resumed(&self) -> anyhow::Result<Option<SessionId>> {
        let builder = launch::options(&self.args, &self.project, (Driver::Terminal, Agents::default()))?;
        let builder = kept(resumed(builder, &self.args), &self.args)?;
        builder.options().find_resumed().await.map_err(of_start)
    }

    /// Opens a session whose questions go to `asker`.
    pub(crate) async fn open(&self, settings: &SessionSettings, asker: impl CanUseTool) -> anyhow::Result<OpenSession> {
        // Files may have changed since the first session.
        let project = if settings.is_fresh { self.project.reread()? } else { self.project.clone() };
        let project = project.variables(settings.environment.clone());
        let provider = Provider::choose(&self.args, &project)?;
        let (permissions, _) = launch::permissions_of(&self.args, Driver::Terminal)?;
        let mut builder = launch::options(&self.args, &project, (Driver::Terminal, Agents::default()))?
            .permissions(permissions.host(asker))
            .host(HostOptions::new().preview_edits(true))
            .provider(provider.model);
        if let Some(servers) = &self.servers {
            builder = builder.mcp_servers(servers.set().clone());
        }
        let builder = kept(resumed(builder, &self.args), &self.args)?;
        Ok(builder.open_conversation(settings).await.map_err(of_start)?.0)
    }

    /// Closes the servers.
    pub(crate) async fn close(&self) {
        if let Some(servers) = &self.servers {
            servers.set().close().await;
        }
    }
}
