//! `windlass acp`: sessions for an editor over the Agent Client Protocol.

mod elicitation;
mod failure;
mod history;
mod servers;
mod session;

use crate::args::{McpArgs, PermissionArgs, PluginArgs, RunArgs, SettingsArgs};
use crate::failure::of_start;
use crate::notes::note_to_stderr;
use crate::provider::Provider;
use crate::writer::{WaitingOutput, Writer};
use async_trait::async_trait;
use clap::Args;
use failure::failed;
use session::SessionSetup;
use std::path::PathBuf;
use std::sync::Arc;
use windlass::Effort;
use windlass::provider::StoredKeys;
use windlass::session::PageCursor;
use windlass::{Home, SessionId};
use windlass_acp::{
    AcpAgent, AcpConversation, AcpError, AcpOptions, AcpServer, AcpServerError, AcpSession, AcpStart, AuthMethod,
    HistoryEntry, ListedSession, SessionPage, SessionQuery,
};

/// Sessions on a page of the list.
const PAGE: usize = 100;
/// Id of the login by an API key in the environment.
const KEY_LOGIN: &str = "api-key";
/// Prefix of the id of the login by a stored key, before the name of the vendor.
const STORED_LOGIN: &str = "stored-key-";
/// Id of the login that stores a key, in a terminal.
const TERMINAL_LOGIN: &str = "login";

/// Flags of `windlass acp`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AcpArgs {
    /// The model that sessions begin with
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT")]
    effort: Option<Effort>,
    /// Let the editor choose the mode bypassPermissions
    #[arg(long)]
    allow_dangerously_skip_permissions: bool,
    /// Store a key of this vendor for later sessions, and end: what editors start in a terminal for a login
    #[arg(long, value_name = "VENDOR", num_args = 0..=1, default_missing_value = crate::login::USUAL)]
    pub(crate) login: Option<String>,
    #[command(flatten)]
    permissions: PermissionArgs,
    #[command(flatten)]
    mcp: McpArgs,
    #[command(flatten)]
    plugins: PluginArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Serves an editor until it is gone or a signal comes, and returns the exit code.
pub(crate) async fn acp(args: AcpArgs) -> anyhow::Result<i32> {
    let agent = EditorAgent { args: Arc::new(run_args(args)?), home: Home::from_env().map_err(of_start)? };
    let mut options = AcpOptions::new("windlass", env!("CARGO_PKG_VERSION"), windlass::conversation::ids());
    options.title = "Windlass".to_owned();
    options.auth_methods = auth_methods();
    let server = AcpServer::new(options, agent);
    let output = WaitingOutput::new(Writer::of_process());
    match server.serve(tokio::io::stdin(), output, crate::host::terminated()).await {
        Ok(()) => Ok(0),
        // The editor closed the output itself.
        Err(AcpServerError::Output(_)) => Ok(1),
        Err(error) => Err(error.into()),
    }
}

/// Ways to log in: each stored key, a key of the environment or the settings, and a login in a terminal.
fn auth_methods() -> Vec<AuthMethod> {
    let stored = stored_keys().and_then(|keys| keys.vendors().ok()).unwrap_or_default();
    let stored = stored.into_iter().map(|vendor| {
        let (id, name) = (format!("{STORED_LOGIN}{vendor}"), format!("Stored key of {vendor}"));
        AuthMethod::agent(id, name, "Uses the key that `windlass login` has stored for this user")
    });
    let environment = AuthMethod::agent(
        KEY_LOGIN,
        "API key",
        "Uses the key in the environment or the settings, such as ANTHROPIC_API_KEY",
    );
    let terminal = AuthMethod::terminal(
        TERMINAL_LOGIN,
        "Log in",
        "Asks for a key in a terminal and stores it for this user",
        ["--login"],
    );
    stored.chain([environment, terminal]).collect()
}

fn stored_keys() -> Option<StoredKeys> {
    StoredKeys::from_lookup(|name| std::env::var(name).ok())
}

fn run_args(args: AcpArgs) -> anyhow::Result<RunArgs> {
    let mut run = RunArgs::none()?;
    (run.model.model, run.model.effort) = (args.model, args.effort);
    run.asks.allow_dangerously_skip_permissions = args.allow_dangerously_skip_permissions;
    (run.permissions, run.settings) = (args.permissions, args.settings);
    (run.mcp, run.plugins) = (args.mcp, args.plugins);
    Ok(run)
}

/// Owner of the sessions of an editor.
struct EditorAgent {
    args: Arc<RunArgs>,
    home: Home,
}

#[async_trait]
impl AcpAgent for EditorAgent {
    async fn begin(&self, session: AcpSession) -> Result<AcpConversation, AcpError> {
        let start = session.start;
        let setup = SessionSetup::new(Arc::clone(&self.args), self.home.clone(), session)?;
        if start != AcpStart::New {
            setup.check_stored().await?;
        }
        Ok(setup.conversation())
    }

    async fn history(&self, id: &str) -> Result<Vec<HistoryEntry>, AcpError> {
        let found = self.home.find_session(id).await.map_err(|error| failed(&error))?;
        let stored = found.ok_or_else(|| AcpError::not_found(format!("there is no session {id}")))?;
        history::read(stored).await
    }

    async fn list(&self, query: SessionQuery) -> Result<SessionPage, AcpError> {
        let mut search = self.home.list().limit(PAGE);
        if let Some(cwd) = &query.cwd {
            // A directory that is gone has no sessions.
            let Ok(cwd) = cwd.canonicalize() else { return Ok(SessionPage::default()) };
            search = search.in_directory(cwd);
        }
        if let Some(cursor) = &query.cursor {
            let cursor = cursor.parse::<PageCursor>().map_err(|error| AcpError::invalid_params(error.to_string()))?;
            search = search.after(cursor);
        }
        let page = search.page().await.map_err(|error| AcpError::internal(format!("{error:#}")))?;
        for skipped in &page.skipped {
            note_to_stderr(&skipped.to_string());
        }
        let sessions = page.sessions.into_iter().filter_map(|session| {
            let summary = session.summary;
            Some(ListedSession {
                cwd: PathBuf::from(summary.cwd?),
                id: summary.session_id.to_string(),
                title: Some(summary.summary).filter(|title| !title.is_empty()),
                updated_at: Some(windlass::session::Timestamp::from_millis(summary.last_modified)),
            })
        });
        Ok(SessionPage { sessions: sessions.collect(), next_cursor: page.next.map(|next| next.to_string()) })
    }

    async fn delete(&self, id: &str) -> Result<(), AcpError> {
        let is_stored = SessionId::from(id.to_ascii_lowercase()).is_uuid()
            && self.home.find_session(id).await.map_err(|error| failed(&error))?.is_some();
        if is_stored {
            self.home.delete_session(id).await.map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    async fn authenticate(&self, method: &str) -> Result<(), AcpError> {
        if let Some(vendor) = method.strip_prefix(STORED_LOGIN) {
            let vendors = stored_keys().map(|keys| keys.vendors()).transpose();
            let vendors = vendors.map_err(|error| AcpError::internal(error.to_string()))?.unwrap_or_default();
            let is_stored = vendors.iter().any(|stored| stored == vendor);
            return is_stored.then_some(()).ok_or_else(|| {
                AcpError::auth_required(format!("no key of {vendor} is stored: run `windlass login {vendor}`"))
            });
        }
        let cwd = std::env::current_dir().map_err(|error| AcpError::internal(error.to_string()))?;
        let project = session::project(&self.args, &cwd)?;
        let chosen =
            Provider::choose(&self.args, &project).map_err(|error| AcpError::internal(format!("{error:#}")))?;
        let wanted = self.args.model.model.as_deref().unwrap_or("default");
        // The first call of the model shows if the key is accepted.
        chosen
            .model
            .ready(&chosen.model.resolve_model(wanted))
            .map_err(|error| AcpError::auth_required(error.to_string()))
    }
}
