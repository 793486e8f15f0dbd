//! What a session has of this machine: directories, files, programs and their environment.
//!
//! Without the feature `tools` a session has no files and no programs, unless the host gives its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_runtime::Diagnostics;
use windlass_tool::{FileTree, Ids, Nowhere, Process, Workspace};
use windlass_types::SessionId;

/// Where a session works, and with what.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) workspace: Option<Arc<dyn Workspace>>,
    pub(crate) process: Option<Arc<dyn Process>>,
    /// What tells the place of the files from others, where they are elsewhere and the program says that.
    pub(crate) place: Option<String>,
    /// The whole files of a workspace that the program gave.
    pub(crate) tree: Option<Arc<dyn FileTree>>,
    /// The sandbox of programs, if they are to run in one.
    #[cfg(feature = "sandbox")]
    pub(crate) sandbox: Option<crate::sandbox::SandboxOptions>,
    /// The program that becomes the helper of the sandbox.
    #[cfg(feature = "sandbox")]
    pub(crate) sandbox_helper: Option<PathBuf>,
    /// What a host says of files.
    pub(crate) diagnostics: Option<Arc<dyn Diagnostics>>,
    /// The language servers of the session, to be confined with its programs.
    #[cfg(all(feature = "lsp", feature = "sandbox"))]
    pub(crate) language_servers: Option<windlass_lsp::LanguageServers>,
    pub(crate) previews_edits: bool,
    /// The environment of programs, if the program chose one.
    #[cfg(feature = "tools")]
    pub(crate) env: Option<Environment>,
    /// The environment of this process, as far as the program says it.
    #[cfg(feature = "tools")]
    pub(crate) host_environment: Option<Environment>,
    #[cfg(all(feature = "store", feature = "tools"))]
    pub(crate) git_status: Option<bool>,
}

/// Variables with their values.
pub(crate) type Environment = Vec<(OsString, OsString)>;

#[cfg(not(feature = "tools"))]
const NOWHERE: Nowhere = Nowhere::new(
    "this program has no files and runs no programs: it is built without the feature `tools`, and the host gives none",
);

/// In the place of programs of this machine, which must not work beside files that are elsewhere.
const NO_PROGRAMS: Nowhere = Nowhere::new(
    "no programs run here: the files are not on this machine, and the host gives no way to run programs where they are",
);

impl Surroundings {
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn user_home(&self) -> Option<PathBuf> {
        let given = self.user_home.clone().or_else(|| self.home_of_programs());
        given.or_else(|| std::env::var_os("HOME").map(PathBuf::from))
    }

    /// Where the home is by the environment that the program chose for programs, or said of this process: `~` in commands
    /// stands for that.
    fn home_of_programs(&self) -> Option<PathBuf> {
        #[cfg(feature = "tools")]
        {
            let chosen = self.env.as_ref().or(self.host_environment.as_ref())?;
            let home = chosen.iter().rev().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
            home.filter(|home| home.is_absolute())
        }
        #[cfg(not(feature = "tools"))]
        None
    }

    /// The files. Where they are elsewhere, `folders` of this machine are there as well, to be read.
    pub(crate) fn workspace(&self, folders: impl Iterator<Item = PathBuf>) -> Arc<dyn Workspace> {
        #[cfg(feature = "tools")]
        if let Some(far) = self.workspace.clone().filter(|_| self.is_elsewhere()) {
            return Arc::new(windlass_tools::WithLocalFolders::new(far, folders));
        }
        let _ = folders;
        #[cfg(feature = "tools")]
        let own = || Arc::new(windlass_tools::LocalWorkspace::default()) as _;
        #[cfg(not(feature = "tools"))]
        let own = || Arc::new(NOWHERE) as _;
        self.workspace.clone().unwrap_or_else(own)
    }

    /// What runs programs. Two processes may have one session at the same time, or one after the other was killed. The
    /// session's id alone does not tell their programs apart.
    pub(crate) fn process(&self, id: &SessionId, ids: &dyn Ids) -> Arc<dyn Process> {
        #[cfg(feature = "tools")]
        let own = || Arc::new(windlass_tools::LocalProcess::new(format!("{id}.{:032x}", ids.bits()))) as _;
        #[cfg(not(feature = "tools"))]
        let (own, _) = (|| Arc::new(NOWHERE) as _, (id, ids));
        match &self.process {
            Some(given) => Arc::clone(given),
            None if self.is_elsewhere() => Arc::new(NO_PROGRAMS),
            None => own(),
        }
    }

    /// The environment of programs. A notice names the given variables that they do not get.
    #[cfg(feature = "tools")]
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn program_environment(&self, notices: &mut Vec<String>) -> Environment {
        let Some(given) = self.env.clone() else {
            return match &self.host_environment {
                Some(own) => windlass_tools::host_environment(own.iter().cloned()),
                None if self.is_elsewhere() => Vec::new(),
                None => windlass_tools::host_environment(std::env::vars_os()),
            };
        };
        let parted = windlass_tools::given_environment(given);
        if !parted.kept_back.is_empty() {
            notices.push(format!(
                "these variables do not reach the programs of tools, since they look like secrets or change what programs \
                 load: {}",
                parted.kept_back.join(", ")
            ));
        }
        parted.passed
    }

    /// None: only the feature `tools` knows which variables are safe to pass on.
    #[cfg(not(feature = "tools"))]
    pub(crate) fn program_environment(&self, _: &mut Vec<String>) -> Environment {
        Vec::new()
    }
}

#[cfg(all(test, not(feature = "tools")))]
mod tests {
    use crate::{Access, Outcome, Permissions, Script, ScriptedModel, ToolCx, query, tool_fn};

    #[derive(serde::Deserialize, windlass_tool::schemars::JsonSchema)]
    #[schemars(crate = "windlass_tool::schemars")]
    struct City {
        /// City to look up.
        name: String,
    }

    #[tokio::test]
    async fn a_session_with_tools_of_the_host_alone_runs() {
        let weather = tool_fn("weather", "Current weather.", |city: City, cx: ToolCx| async move {
            let files = cx.workspace().resolve(std::path::Path::new("/etc/hosts")).await.unwrap_err();
            Ok(format!("sunny in {}; {files}", city.name))
        });
        let script = Script::new()
            .turn(|turn| turn.tool_use("weather", serde_json::json!({ "name": "Oslo" })))
            .turn(|turn| turn.text("It is sunny."));
        let model = ScriptedModel::new(script);
        let result = query("How is the weather?")
            .provider(model.clone())
            .tool(weather.with_access(Access::NOTHING))
            .permissions(Permissions::new())
            .await
            .unwrap();
        assert!(matches!(result.outcome, Outcome::Success { .. }), "{:?}", result.outcome);
        let read = format!("{:?}", model.requests());
        assert!(read.contains("sunny in Oslo") && read.contains("built without the feature"), "{read}");
    }
}
