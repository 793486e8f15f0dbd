//! The sandbox of the project's MCP servers, which may start before any session opens.

use crate::project::notice::Notices;
use crate::project::{LoadedProject, ProjectNoticeKind};
use crate::sandbox::{ProgramSandbox, SandboxOptions, SandboxedServers, Site, temporary};
use crate::server_guard::{GuardedProgram, ServerGuard, ServerKind};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::OnceCell;
use windlass_tool::environment::host_environment;
use windlass_tool::{Process, ProcessCommand, SystemIds};

/// Opens the sandbox of the project's servers when the first server starts.
struct ServerSandbox {
    of_settings: Option<SandboxOptions>,
    /// Sandbox options of a program's sessions, which override settings.
    of_program: Arc<OnceLock<ProgramSandbox>>,
    site: Site,
    process: Arc<dyn Process>,
    notices: Weak<Notices>,
    opened: OnceCell<Result<Option<SandboxedServers>, String>>,
}

impl LoadedProject {
    /// Sandbox of the project's servers: by the program's options, else by those of settings.
    pub(in crate::project) fn server_sandbox(&self, process: Arc<dyn Process>) -> Option<Arc<dyn ServerGuard>> {
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
        Some(Arc::new(ServerSandbox {
            of_settings: self.sandbox(),
            of_program: Arc::clone(&self.shared.sandbox),
            site,
            process,
            notices: Arc::downgrade(&self.shared.notices),
            opened: OnceCell::new(),
        }))
    }
}

impl ServerSandbox {
    async fn open(&self) -> Result<Option<SandboxedServers>, String> {
        let of_program = self.of_program.get();
        let sandbox_options = of_program.and_then(|said| said.options.as_ref()).or(self.of_settings.as_ref());
        let Some(sandbox_options) = sandbox_options else { return Ok(None) };
        let mut site = self.site.clone();
        site.helper = site.helper.or_else(|| of_program.and_then(|said| said.helper.clone()));
        let mut notices = Vec::new();
        let opened = sandbox_options.open(&site, (&*self.process, &SystemIds::default()), &mut notices).await;
        notices.into_iter().for_each(|notice| self.note(notice));
        let opened = opened.map_err(|error| error.to_string())?;
        Ok(opened.map(|(sandbox, way)| SandboxedServers::new(sandbox, Arc::new(way), sandbox_options.clone())))
    }

    fn note(&self, text: String) {
        // Without the project, nobody reads the notice.
        if let Some(notices) = self.notices.upgrade() {
            notices.add(ProjectNoticeKind::Server, text);
        }
    }
}

impl fmt::Debug for ServerSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSandbox").field("site", &self.site).finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl ServerGuard for ServerSandbox {
    async fn guard(&self, kind: ServerKind, name: &str, program: ProcessCommand) -> Result<GuardedProgram, String> {
        match self.opened.get_or_init(|| self.open()).await {
            Ok(None) => Ok(GuardedProgram::unchanged(program)),
            Ok(Some(opened)) => {
                if opened.excludes(kind, name) {
                    self.note(format!("the {kind} {name:?} runs outside of the sandbox, as settings say"));
                }
                opened.guard(kind, name, program).await
            }
            Err(problem) => Err(format!("its sandbox, which is required, is not there: {problem}")),
        }
    }
}
