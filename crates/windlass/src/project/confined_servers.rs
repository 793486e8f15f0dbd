//! The sandbox of the project's MCP servers, which may start before any session opens.

use super::notice::Notices;
use super::{LoadedProject, ProjectNoticeKind};
use crate::options::Options;
use crate::sandbox::{ProgramSandbox, SandboxOptions, Site, temporary};
use crate::sandboxed_servers::ServerSandbox;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::OnceCell;
use windlass_mcp::{ConfinedProgram, ProgramConfinement};
use windlass_tool::environment::host_environment;
use windlass_tool::{Process, ProcessCommand, SystemIds};

/// Opens the sandbox of the project's servers when the first server starts.
pub(crate) struct ProjectConfinement {
    of_settings: Option<SandboxOptions>,
    /// Sandbox options of a program's sessions, which override settings.
    of_program: Arc<OnceLock<ProgramSandbox>>,
    site: Site,
    process: Arc<dyn Process>,
    notices: Weak<Notices>,
    opened: OnceCell<Result<Option<Opened>, String>>,
}

/// An open sandbox, and its options, which name servers that do not run in it.
struct Opened {
    sandbox: ServerSandbox,
    options: SandboxOptions,
}

impl LoadedProject {
    /// Stores the program's sandbox options of its session, for servers that start later.
    pub(crate) fn hear_sandbox(&self, options: &Options) {
        // Sessions of a project share its servers, so the first session decides.
        let _ = self.shared.sandbox.set(options.surroundings.sandbox.clone());
    }

    /// Confinement of the programs of the project's servers: the program's sandbox options, else those of settings.
    pub(super) fn server_confinement(&self, process: Arc<dyn Process>) -> ProjectConfinement {
        let places = self.places();
        let directories = [places.start()].into_iter().chain(self.directories()).map(Path::to_path_buf);
        let site = Site {
            who: "MCP servers",
            directories: directories.collect(),
            home: places.user_home.clone(),
            session_homes: places.user.clone(),
            read_only: places.user.first().cloned().into_iter().collect(),
            temporary: temporary(&host_environment(self.usual_environment())),
            helper: self.read.request.sandbox_helper.clone(),
        };
        ProjectConfinement {
            of_settings: self.sandbox(),
            of_program: Arc::clone(&self.shared.sandbox),
            site,
            process,
            notices: Arc::downgrade(&self.shared.notices),
            opened: OnceCell::new(),
        }
    }
}

impl ProjectConfinement {
    async fn open(&self) -> Result<Option<Opened>, String> {
        let of_program = self.of_program.get();
        let wanted = of_program.and_then(|said| said.options.as_ref()).or(self.of_settings.as_ref());
        let Some(wanted) = wanted else { return Ok(None) };
        let mut site = self.site.clone();
        site.helper = site.helper.or_else(|| of_program.and_then(|said| said.helper.clone()));
        let mut notices = Vec::new();
        let opened = wanted.open(&site, (&*self.process, &SystemIds::default()), &mut notices).await;
        notices.into_iter().for_each(|notice| self.note(notice));
        let opened = opened.map_err(|error| error.to_string())?;
        Ok(opened.map(|(sandbox, way)| {
            let sandbox = ServerSandbox::new(sandbox, Arc::new(way), wanted.clone());
            Opened { sandbox, options: wanted.clone() }
        }))
    }

    fn note(&self, text: String) {
        // Without the project, nobody reads the notice.
        if let Some(notices) = self.notices.upgrade() {
            notices.add(ProjectNoticeKind::Server, text);
        }
    }
}

impl fmt::Debug for ProjectConfinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectConfinement").field("site", &self.site).finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl ProgramConfinement for ProjectConfinement {
    async fn confine(&self, server: &str, program: ProcessCommand) -> Result<ConfinedProgram, String> {
        match self.opened.get_or_init(|| self.open()).await {
            Ok(None) => Ok(ConfinedProgram::new(program)),
            Ok(Some(opened)) => {
                if opened.options.excludes_server(server) {
                    self.note(format!("the MCP server {server:?} runs outside of the sandbox, as settings say"));
                }
                opened.sandbox.confine(server, program).await
            }
            Err(problem) => Err(format!("its sandbox, which is required, is not there: {problem}")),
        }
    }
}
