//! What a session has of this machine: files, programs, their environment, and where it is kept.
//!
//! Without the features that bring them a session has none, unless the host gives its own.

use crate::{Error, Options};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use windlass_session::{Checkpoints, ProjectKey, SessionStore};
use windlass_tool::{Ids, Process, Workspace};
use windlass_types::SessionId;

#[cfg(not(feature = "tools"))]
const NOWHERE: windlass_tool::Nowhere = windlass_tool::Nowhere::new(
    "this program has no files and runs no programs: it is built without the feature `tools`, and the host gives none",
);

#[cfg(feature = "tools")]
pub(crate) fn workspace(options: &Options) -> Arc<dyn Workspace> {
    options.workspace.clone().unwrap_or_else(|| Arc::new(windlass_tools::LocalWorkspace::default()))
}

#[cfg(not(feature = "tools"))]
pub(crate) fn workspace(options: &Options) -> Arc<dyn Workspace> {
    options.workspace.clone().unwrap_or_else(|| Arc::new(NOWHERE))
}

/// What runs programs. Two processes may have one session at the same time, or the one after the other was killed:
/// its id alone does not tell the programs of one from those of the other.
#[cfg(feature = "tools")]
pub(crate) fn process(options: &Options, id: &SessionId, ids: &dyn Ids) -> Arc<dyn Process> {
    let mark = || format!("{id}.{:032x}", ids.bits());
    options.process.clone().unwrap_or_else(|| Arc::new(windlass_tools::LocalProcess::new(mark())))
}

#[cfg(not(feature = "tools"))]
pub(crate) fn process(options: &Options, _: &SessionId, _: &dyn Ids) -> Arc<dyn Process> {
    options.process.clone().unwrap_or_else(|| Arc::new(NOWHERE))
}

/// The environment of programs; which of the given variables they do not get is appended to `notices`.
#[cfg(feature = "tools")]
#[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
pub(crate) fn program_environment(options: &Options, notices: &mut Vec<String>) -> Vec<(OsString, OsString)> {
    let Some(given) = options.env.clone() else {
        return match &options.host_environment {
            Some(own) => windlass_tools::host_environment(own.iter().cloned()),
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

/// Which variables are safe to pass on is known to the feature `tools` alone.
#[cfg(not(feature = "tools"))]
pub(crate) fn program_environment(_: &Options, _: &mut Vec<String>) -> Vec<(OsString, OsString)> {
    Vec::new()
}

pub(crate) fn store(options: &Options) -> Option<Arc<dyn SessionStore>> {
    if let Some(store) = &options.store {
        return Some(Arc::clone(store));
    }
    #[cfg(feature = "store")]
    if let Some(home) = &options.home {
        return Some(Arc::new(windlass_store::JsonlStore::with_imports(home.root(), home.also_read().to_vec())));
    }
    None
}

/// The branch of the git repository around a directory, as session logs name it.
#[cfg(feature = "store")]
pub(crate) fn git_branch(cwd: &Path) -> Option<String> {
    windlass_store::git_branch(cwd)
}

#[cfg(not(feature = "store"))]
pub(crate) fn git_branch(_: &Path) -> Option<String> {
    None
}

/// The checkpoints of a session, if it keeps some.
pub(crate) fn checkpoints(
    options: &Options,
    project: &ProjectKey,
    id: &SessionId,
) -> Result<Option<Arc<dyn Checkpoints>>, Error> {
    if let Some(checkpoints) = &options.checkpoint_store {
        return Ok(Some(Arc::clone(checkpoints)));
    }
    #[cfg(all(feature = "store", feature = "tools"))]
    if options.file_checkpoints {
        return crate::checkpoints::beside_the_log(options, project, id).map(Some);
    }
    let _ = (project, id);
    Ok(None)
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
