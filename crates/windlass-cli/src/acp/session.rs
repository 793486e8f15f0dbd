//! One session of an editor.

use super::failure::failed;
use super::servers;
use crate::args::RunArgs;
use crate::launch::{self, Driver};
use crate::notes::note_to_stderr;
use crate::provider::Provider;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use windlass::conversation::{ConversationAsker, OpenFailure, OpenSession, SessionSettings};
use windlass::mcp::ProjectServers;
use windlass::options::{HostOptions, StorageOptions, WorkspaceOptions};
use windlass::project::Agents;
use windlass::project::LoadedProject;
use windlass::session::SessionTools;
use windlass::tool::built_in::AskUserQuestion;
use windlass::{Home, SessionBuilder};
use windlass_acp::{AcpClient, AcpConversation, AcpError, AcpModel, AcpSession, AcpStart};

/// Models that an editor is offered.
const MODELS: [(&str, &str, &str); 4] = [
    ("default", "Default", "The model that the settings name"),
    ("opus", "Opus", "For hard work"),
    ("sonnet", "Sonnet", "For daily work"),
    ("haiku", "Haiku", "For quick work"),
];

/// Parts that a session is opened from.
pub(super) struct SessionSetup {
    args: Arc<RunArgs>,
    home: Home,
    id: String,
    start: AcpStart,
    directories: Vec<PathBuf>,
    client: AcpClient,
    project: LoadedProject,
    servers: ProjectServers,
    /// Reasons why servers of the editor are not started.
    kept_out: Vec<String>,
    /// Kept as long as the session.
    tools: Mutex<Option<SessionTools>>,
}

/// Reads the project of a directory.
pub(super) fn project(args: &RunArgs, cwd: &Path) -> Result<LoadedProject, AcpError> {
    let cwd = cwd.canonicalize().map_err(|error| {
        AcpError::invalid_params(format!("the directory {} cannot be used: {error}", cwd.display()))
    })?;
    let project = launch::load(args, &cwd, Driver::Person).map_err(|error| internal(&error))?;
    project.on_notice(|notice| note_to_stderr(&notice.text));
    Ok(project)
}

impl SessionSetup {
    /// Reads the project, and begins to connect the MCP servers.
    pub(super) fn new(args: Arc<RunArgs>, home: Home, session: AcpSession) -> Result<Arc<Self>, AcpError> {
        let AcpSession { id, start, cwd, additional_directories, mcp_servers, client, .. } = session;
        let project = project(&args, &cwd)?;
        let (servers, kept_out) =
            servers::start(&args, &project, mcp_servers, &client).map_err(|error| internal(&error))?;
        for reason in &kept_out {
            note_to_stderr(reason);
        }
        Ok(Arc::new(Self {
            args,
            home,
            id,
            start,
            directories: additional_directories,
            client,
            project,
            servers,
            kept_out,
            tools: Mutex::default(),
        }))
    }

    /// Checks that the session is stored and can be resumed here.
    pub(super) async fn check_stored(&self) -> Result<(), AcpError> {
        let builder = self.builder().map_err(|error| internal(&error))?.resume(&self.id);
        builder.options().find_resumed().await.map(drop).map_err(|error| failed(&error))
    }

    /// The conversation of the session.
    pub(super) fn conversation(self: Arc<Self>) -> AcpConversation {
        let options = launch::conversation_options(&self.args, &self.project);
        let (models, current) = self.models();
        let (effort, notices) = (self.args.model.effort, self.kept_out.clone());
        let servers = self.servers.clone();
        let conversation =
            AcpConversation::new(options, move |settings, asker| Arc::clone(&self).open(settings, asker));
        conversation
            .with_models(models, current)
            .with_effort(effort)
            .with_notices(notices)
            .with_close(move || async move { servers.set().close().await })
    }

    async fn open(
        self: Arc<Self>,
        settings: SessionSettings,
        asker: ConversationAsker,
    ) -> Result<OpenSession, OpenFailure> {
        let (permissions, _) = launch::permissions_of(&self.args, Driver::Person)?;
        let provider = Provider::choose(&self.args, &self.project).map_err(|error| format!("{error:#}"))?;
        let builder = self.builder().map_err(|error| format!("{error:#}"))?;
        let builder = builder
            .provider(provider.model)
            .permissions(permissions.host(asker))
            .host(HostOptions::new().preview_edits(true));
        // A new session may have been opened before, and broken.
        let is_new = self.start == AcpStart::New && self.home.find_session(&self.id).await?.is_none();
        let builder = if is_new { builder.session_id(&self.id) } else { builder.resume(&self.id) };
        let (opened, tools) = builder.open_conversation(&settings).await.map_err(|error| failed(&error))?;
        for notice in &opened.session().notices {
            note_to_stderr(notice);
        }
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = Some(tools);
        Ok(opened)
    }

    fn builder(&self) -> anyhow::Result<SessionBuilder> {
        let builder = launch::options(&self.args, &self.project, (Driver::Person, Agents::default()))?
            .storage(StorageOptions::new().entrypoint("acp"))
            .mcp_servers(self.servers.set().clone())
            .persist(self.home.clone());
        let workspace = self.directories.iter().fold(WorkspaceOptions::new(), WorkspaceOptions::add_dir);
        let builder = builder.workspace(self.with_buffers(workspace));
        // Without a form the answers could not be given.
        Ok(if self.client.shows_forms() { builder.tools(AskUserQuestion::default()) } else { builder })
    }

    /// Lets tools read files with the changes that the editor has not saved, where the editor tells them.
    fn with_buffers(&self, workspace: WorkspaceOptions) -> WorkspaceOptions {
        let directories = self.directories.iter().filter_map(|directory| directory.canonicalize().ok());
        let directories: Vec<PathBuf> =
            std::iter::once(self.project.places().start().to_path_buf()).chain(directories).collect();
        let client = self.client.clone();
        workspace.files_layer(move |disk| client.over_files(disk, directories.clone()))
    }

    /// The models to choose from, and the name of the current one.
    fn models(&self) -> (Vec<AcpModel>, String) {
        let configured = self.builder().and_then(|builder| Ok(builder.resolve()?)).ok();
        let named = configured.as_ref().and_then(|builder| builder.options().model()).map(str::to_owned);
        let provider = Provider::choose(&self.args, &self.project).ok();
        let model = |name: &str, title: &str, description: &str| {
            let model = AcpModel::new(name, title).with_description(description);
            let Some(provider) = provider.as_ref().map(|provider| &provider.model) else { return model };
            let wanted = if name == "default" { named.as_deref().unwrap_or(name) } else { name };
            let id = provider.resolve_model(wanted);
            let efforts = provider.model_info(&id).efforts;
            model.with_id(id, efforts)
        };
        let models = MODELS.map(|(name, title, description)| model(name, title, description));
        (models.into(), "default".to_owned())
    }
}

fn internal(error: &anyhow::Error) -> AcpError {
    AcpError::internal(format!("{error:#}"))
}
