//! Execution of a session's programs.

use crate::error::Error;
use crate::machine::Environment;
use crate::options::Options;
#[cfg(feature = "sandbox")]
use crate::sandbox::Site;
#[cfg(all(feature = "lsp", feature = "sandbox"))]
use crate::sandboxed_languages::LanguageSandbox;
#[cfg(all(feature = "mcp", feature = "sandbox"))]
use crate::sandboxed_servers::ServerSandbox;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_permission::Policy;
use windlass_tool::{Ids, Process};

/// Process port for a session's programs, and their temporary directory if they are confined.
pub(crate) struct Programs {
    pub(crate) process: Arc<dyn Process>,
    temporary: Option<PathBuf>,
}

impl Programs {
    /// Confines programs if the options request it. Notices name the proven level, or the reason for none.
    pub(crate) async fn confined(
        process: Arc<dyn Process>,
        options: &Options,
        policy: &mut Policy,
        ids: &dyn Ids,
        notices: &mut Vec<String>,
    ) -> Result<Self, Error> {
        #[cfg(feature = "sandbox")]
        if options.surroundings.sandbox.options.is_some() && options.surroundings.is_elsewhere() {
            let reason = "the programs run elsewhere, where it does not apply: leave out `.sandbox(..)`".to_owned();
            return Err(windlass_sandbox::SandboxError::Unavailable { reason }.into());
        }
        #[cfg(feature = "sandbox")]
        if let Some(wanted) = &options.surroundings.sandbox.options
            && let Some((sandbox, way)) =
                wanted.open(&Site::of_session(options, policy), (&*process, ids), notices).await?
        {
            wanted.note_questions(sandbox.level(), notices);
            let way = Arc::new(way);
            #[cfg(feature = "mcp")]
            if let Some(servers) = &options.tools.mcp {
                let confinement = ServerSandbox::new(sandbox.clone(), Arc::clone(&way), wanted.clone());
                confinement.settle(servers, notices)?;
            }
            #[cfg(feature = "lsp")]
            if let Some(servers) = &options.surroundings.language_servers {
                let confined =
                    LanguageSandbox { sandbox: sandbox.clone(), way: Arc::clone(&way), options: wanted.clone() };
                let confinement: Arc<dyn windlass_lsp::ServerConfinement> = Arc::new(confined);
                #[cfg(feature = "project")]
                let confinement = match options.applied_project() {
                    Some(project) => project.reviewed_language_servers(Some(confinement)),
                    None => confinement,
                };
                servers.confine(confinement);
            }
            let commands = wanted.commands(sandbox.level());
            policy.confine(commands.clone());
            let confines = move |text: &str, leaves: bool| {
                // The proxy lives as long as programs can be started.
                let _kept = &way;
                commands.confines(text, leaves)
            };
            let temporary = Some(sandbox.temporary());
            return Ok(Self { temporary, process: sandbox.around_some(process, confines) });
        }
        #[cfg(all(feature = "lsp", feature = "project"))]
        if let (Some(servers), Some(project)) = (&options.surroundings.language_servers, options.applied_project()) {
            servers.confine(project.reviewed_language_servers(None));
        }
        let _ = (options, policy, ids, notices);
        Ok(Self { process, temporary: None })
    }

    /// Environment of the programs.
    pub(crate) fn environment(&self, mut environment: Environment) -> Arc<[(OsString, OsString)]> {
        if let Some(temporary) = &self.temporary {
            environment.retain(|(name, _)| name != "TMPDIR");
            environment.push(("TMPDIR".into(), temporary.clone().into()));
        }
        environment.into()
    }
}
