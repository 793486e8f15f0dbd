//! `windlass tools`: the tools, and calls of them through the whole permission gate, without a model.

use crate::args::{OnAsk, ToolsCallArgs};
use crate::elsewhere::Elsewhere;
use crate::explain::Verdict;
use crate::failure::{Usage, of_start};
use crate::jsonl::{self, Line};
use crate::launch;
use crate::notes::note_to_stderr;
use crate::permissions::permissions;
use crate::programs::with_programs;
use crate::terminal::{Terminal, clean};
use crate::web::with_web;
use anyhow::Context;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use windlass::Prompt;
use windlass::ScriptedTurn;
use windlass::options::{StorageOptions, WorkspaceOptions};
use windlass::text::compaction_prompt;
use windlass::{
    ContentBlock, EventKind, JsonText, PermissionAnswer, Permissions, ScriptedModel, Session, Subagents, coding_tools,
    event::ToolFinished,
    permission::Decision,
    project::LoadedProject,
    session,
    session::SessionSummary,
    store::SessionStore,
    tool::{DynTool, ToolUseId},
};
use windlass::{
    provider::ModelRequest,
    store::{Entry, EntryKind},
};
use windlass::{
    session::{AgentSummary, ProjectKey},
    store::{Durability, Lease, Loaded, LogHeader, Owner, SessionKey, StoreError},
};

/// Prints the tools and returns the exit code.
pub(crate) fn list(terminal: Terminal) -> anyhow::Result<i32> {
    let mut out = stdout().lock();
    let agents = Subagents::new().tool() as Arc<dyn DynTool>;
    for tool in std::iter::once(&agents).chain(with_web(coding_tools(".")).with_task_list().tools()) {
        let spec = tool.spec();
        if terminal.stdout {
            let line = spec.description.lines().next().unwrap_or_default();
            let sentence = line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.');
            writeln!(out, "{:<14} {}", spec.name, clean(sentence))?;
        } else {
            jsonl::write(&mut out, &spec)?;
        }
    }
    Ok(0)
}

#[derive(Deserialize)]
struct ToolCallRequest {
    tool: String,
    #[serde(default = "JsonText::empty_object")]
    input: JsonText,
}

#[derive(Serialize)]
struct ToolCallLine<'a> {
    id: Option<&'a JsonText>,
    decision: Verdict<'a>,
    is_error: bool,
    content: &'a [ContentBlock],
    diff: Option<&'a str>,
    duration_ms: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

/// Runs calls in one session, in order, and returns the exit code: 1 when a
/// line could not be used or, for a call from the arguments, when it failed.
pub(crate) async fn call(args: ToolsCallArgs) -> anyhow::Result<i32> {
    let mut bench = Bench::open(&args).await?;
    let mut out = stdout().lock();
    let single = match (&args.name, &args.input) {
        (Some(name), Some(input)) => {
            let input =
                JsonText::parse(input.as_str()).map_err(|error| Usage(format!("the input is not JSON: {error}")))?;
            Some(ToolCallRequest { tool: name.clone(), input })
        }
        _ => None,
    };
    let code = match single {
        Some(call) => {
            let line = Line { number: 1, id: None, value: Ok(call), warnings: Vec::new() };
            i32::from(answer(&mut bench, &line, &mut out).await?)
        }
        None => {
            let mut refused = false;
            for line in jsonl::lines::<ToolCallRequest>(stdin().lock(), &["id", "tool", "input"]) {
                let line = line?;
                let failed = answer(&mut bench, &line, &mut out).await?;
                refused |= failed && line.value.is_err();
            }
            i32::from(refused)
        }
    };
    bench.session.handle.close().await?;
    Ok(code)
}

/// Answers a line. Returns `true` if it could not be used or its call failed.
async fn answer(bench: &mut Bench, line: &Line<ToolCallRequest>, out: &mut impl Write) -> anyhow::Result<bool> {
    let call = match &line.value {
        Ok(call) => call,
        Err(error) => {
            jsonl::write(out, &line.refuse(error))?;
            return Ok(true);
        }
    };
    let (decision, finished) = bench.call(call).await?;
    let text;
    let content = match &finished.result.content {
        windlass::event::ToolResultContent::Blocks(blocks) => blocks.as_slice(),
        windlass::event::ToolResultContent::Text(plain) => {
            text = [ContentBlock::text(plain.as_str())];
            &text
        }
    };
    let answer = ToolCallLine {
        id: line.id.as_ref(),
        decision: Verdict::from(&decision),
        is_error: finished.result.is_error,
        content,
        diff: finished.diff.as_deref(),
        duration_ms: finished.duration_ms,
        warnings: &line.warnings,
    };
    jsonl::write(out, &answer)?;
    Ok(finished.result.is_error)
}

/// Workspace of a bench, and its project.
struct Site {
    elsewhere: Option<Elsewhere>,
    /// Directory in the remote workspace, or here.
    cwd: PathBuf,
    project: Option<LoadedProject>,
}

impl Site {
    async fn of(args: &ToolsCallArgs) -> anyhow::Result<Self> {
        let elsewhere = Elsewhere::of(args.elsewhere.workspace.as_ref()).await?;
        let here = || {
            std::env::current_dir()
                .map_err(|error| anyhow::anyhow!("the current directory cannot be used ({error}): give --cwd"))
        };
        let cwd = args.cwd.clone().map_or_else(here, Ok);
        // Other paths in flags are relative to the directory here.
        let project = match (&cwd, &elsewhere) {
            (Err(_), Some(_)) => bench_project(args, Path::new("/"), elsewhere.as_ref()).await?,
            (Err(_), None) => None,
            (Ok(cwd), _) => bench_project(args, cwd, elsewhere.as_ref()).await?,
        };
        let cwd = match &elsewhere {
            Some(there) => there.directory.clone(),
            None => cwd?,
        };
        Ok(Self { elsewhere, cwd, project })
    }
}

/// Returns the project of a bench: settings files are read only if a flag asks for some; otherwise the flags alone
/// decide.
async fn bench_project(
    args: &ToolsCallArgs,
    cwd: &Path,
    elsewhere: Option<&Elsewhere>,
) -> anyhow::Result<Option<LoadedProject>> {
    let mut settings = args.settings.clone();
    if settings.settings.is_none() && settings.setting_sources.is_none() && !settings.trust {
        return Ok(None);
    }
    let cwd = cwd.canonicalize().with_context(|| format!("the directory {} cannot be used", cwd.display()))?;
    // `--settings` alone means its settings without other files.
    if !settings.trust {
        settings.setting_sources.get_or_insert_default();
    }
    let project = launch::moved(launch::project(&settings, &cwd)?, elsewhere).await?;
    project.on_notice(|notice| note_to_stderr(&notice.text));
    Ok(Some(project))
}

/// Returns the permissions of the flags and the project. `--on-ask` answers each question.
fn bench_permissions(args: &ToolsCallArgs, project: Option<&LoadedProject>) -> anyhow::Result<Permissions> {
    let (permissions, _) = permissions(&args.permissions)?;
    let mut permissions = permissions.mode(args.permissions.permission_mode.unwrap_or_default()).allow_bypass();
    if let Some(project) = project {
        let wanted = args.permissions.permission_mode.or_else(|| project.mode(true)).unwrap_or_default();
        permissions = project.permissions(permissions.mode(project.permitted_mode(wanted)));
    }
    let allow = args.on_ask == OnAsk::Allow;
    Ok(permissions.host(windlass::permission::can_use_tool_fn(move |_| async move {
        if allow {
            PermissionAnswer::allow()
        } else {
            PermissionAnswer::deny("Nobody is there to approve it, so it was denied.")
        }
    })))
}

/// The tool and the input of the call that the model makes next.
type NextCall = Arc<Mutex<Option<(String, String)>>>;

/// Returns a model that makes the next call. Once that is answered, it ends its turn.
fn calling_model(next: NextCall) -> ScriptedModel {
    let model = ScriptedModel::from_fn(move |request, number| {
        // A compaction for more calls is no turn of its own.
        if wants_summary(request) {
            return ScriptedTurn::new().text("<summary>Calls were made one after the other.</summary>");
        }
        match next.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((tool, input)) => ScriptedTurn::new().id(format!("msg_{number}")).tool_use_text(tool, input),
            None => ScriptedTurn::new().text("Done."),
        }
    });
    model.with_delta_chars(0).without_recording()
}

/// One session whose model makes the calls that it is given.
struct Bench {
    session: Session,
    next: NextCall,
    verdicts: Arc<Verdicts>,
}

impl Bench {
    async fn open(args: &ToolsCallArgs) -> anyhow::Result<Self> {
        let Site { elsewhere, cwd, project } = Site::of(args).await?;
        let (next, verdicts): (NextCall, _) = (Arc::default(), Arc::new(Verdicts::default()));
        let mut tools = with_web(coding_tools(cwd)).with_task_list();
        if args.programs {
            tools = with_programs(tools)?;
        }
        if let Some(bash) = project.as_ref().and_then(LoadedProject::bash) {
            tools = tools.replacing_shared(&bash);
        }
        let mut builder = session()
            .provider(calling_model(Arc::clone(&next)))
            .tools(tools)
            .permissions(bench_permissions(args, project.as_ref())?)
            .storage(StorageOptions::new().store(Arc::clone(&verdicts) as Arc<dyn SessionStore>).entrypoint("cli"));
        let of_project = project.iter().flat_map(LoadedProject::directories);
        for directory in args.permissions.add_dir.iter().map(PathBuf::as_path).chain(of_project) {
            builder = builder.workspace(WorkspaceOptions::new().add_dir(directory));
        }
        if let Some(environment) = project.as_ref().and_then(LoadedProject::program_environment) {
            builder = builder.workspace(WorkspaceOptions::new().env(environment));
        }
        if let Some(servers) = project.as_ref().and_then(LoadedProject::language_servers) {
            builder = builder.host(servers);
        }
        if let Some(sandbox) = project.as_ref().and_then(LoadedProject::sandbox) {
            builder = builder.workspace(sandbox);
        }
        if let Ok(program) = std::env::current_exe() {
            builder = builder.workspace(WorkspaceOptions::new().sandbox_helper(program));
        }
        if let Some(there) = &elsewhere {
            builder = builder.workspace(&there.remote);
        }
        let session = builder.open().await.map_err(of_start)?;
        Ok(Self { session, next, verdicts })
    }

    /// Makes one call and waits for its end.
    async fn call(&mut self, call: &ToolCallRequest) -> anyhow::Result<(Decision, ToolFinished)> {
        let next = (call.tool.clone(), call.input.as_str().to_owned());
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        self.session.handle.prompt(Prompt::new(vec![ContentBlock::text("Make the call.")]))?;
        let (mut asked, mut finished) = (None, None);
        while let Some(event) = self.session.events.try_next().await? {
            match event.kind {
                // The verdict of the gate, before the answer of --on-ask.
                EventKind::PermissionRequested(request) => asked = Some(request.decision),
                EventKind::ToolFinished(tool) => finished = Some(tool),
                EventKind::RunFinished(result) if finished.is_none() => {
                    let why = crate::failure::of_result(&result);
                    anyhow::bail!("the call was not made: {}", why.unwrap_or_else(|| "the model made none".to_owned()));
                }
                EventKind::RunFinished(_) => break,
                _ => {}
            }
        }
        let finished = finished.context("the session ended during the call")?;
        let stored = self.verdicts.take(&finished.result.tool_use_id);
        let decision = asked.or(finished.denied.clone()).or(stored);
        Ok((decision.context("the verdict on the call is not known; this is a bug in windlass")?, finished))
    }
}

/// Returns `true` if a request asks for a summary of the conversation, for a compaction.
fn wants_summary(request: &ModelRequest) -> bool {
    let last = request.messages.last().and_then(|message| message.content.last());
    last.and_then(ContentBlock::as_text).is_some_and(|text| text == compaction_prompt(None))
}

/// A store that keeps only the verdicts on calls, until they are asked for.
#[derive(Debug, Default)]
struct Verdicts(Mutex<HashMap<ToolUseId, Decision>>);

impl Verdicts {
    fn take(&self, id: &ToolUseId) -> Option<Decision> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

#[async_trait]
impl SessionStore for Verdicts {
    async fn open(&self, key: &SessionKey, _: &Owner, _: LogHeader) -> Result<Lease, StoreError> {
        Ok(Lease::new(key.clone(), 1, 0, ()))
    }

    async fn append(&self, _: &Lease, seq: u64, entries: Vec<Entry>, _: Durability) -> Result<u64, StoreError> {
        let count = entries.len() as u64;
        let mut verdicts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in entries {
            if let EntryKind::Decision(audited) = entry.kind {
                verdicts.insert(audited.tool_use_id, audited.decision);
            }
        }
        Ok(seq + count)
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        Err(StoreError::not_found(key))
    }

    async fn list(&self, _: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        Ok(Vec::new())
    }

    async fn delete(&self, _: &SessionKey) -> Result<(), StoreError> {
        Ok(())
    }

    async fn agents(&self, _: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        Ok(Vec::new())
    }

    async fn close(&self, _: Lease) -> Result<(), StoreError> {
        Ok(())
    }
}
