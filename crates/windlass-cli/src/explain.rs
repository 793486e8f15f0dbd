//! `windlass permissions explain`: tests a policy without a model.

mod detail;

use crate::args::SettingsArgs;
use crate::jsonl;
use crate::launch;
use crate::permissions::behavior_word;
use crate::web::with_web;
use detail::Detail;
use serde::{Deserialize, Serialize};
use std::io::{stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass::permission::PolicyConfig;
use windlass::project::absolute;
use windlass::session::judge;
use windlass::tool::Workspace;
use windlass::tool::built_in::LocalWorkspace;
use windlass::{
    Home, JsonText, PermissionMode, coding_tools,
    permission::{Behavior, Decision, PermissionUpdate, Policy},
    project::LoadedProject,
    tool::ToolSet,
};
use windlass::{
    event::ToolUse,
    permission::{AuditedSandbox, MatchedRule, RuleSource},
};

/// The keys of a question, its id included.
const KEYS: &[&str] =
    &["id", "tool", "input", "cwd", "mode", "allow", "deny", "ask", "additional_directories", "settings", "trust"];

#[derive(Deserialize)]
struct Question {
    tool: String,
    #[serde(default = "JsonText::empty_object")]
    input: JsonText,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    allow: Option<Vec<String>>,
    #[serde(default)]
    deny: Option<Vec<String>>,
    #[serde(default)]
    ask: Option<Vec<String>>,
    #[serde(default)]
    additional_directories: Option<Vec<PathBuf>>,
    #[serde(default)]
    settings: Option<bool>,
    #[serde(default)]
    trust: Option<bool>,
}

/// A verdict as all debugging commands print it.
#[derive(Serialize)]
pub(crate) struct Verdict<'a> {
    behavior: Behavior,
    reason: &'a str,
    rule: Option<&'a MatchedRule>,
    protected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a str>,
    suggestions: &'a [PermissionUpdate],
}

impl<'a> From<&'a Decision> for Verdict<'a> {
    fn from(decision: &'a Decision) -> Self {
        Self {
            behavior: decision.behavior,
            reason: &decision.message,
            rule: decision.rule.as_ref(),
            protected: decision.protected,
            part: decision.part.as_deref(),
            suggestions: &decision.suggestions,
        }
    }
}

#[derive(Serialize)]
struct ExplainedCall<'a> {
    id: Option<&'a JsonText>,
    #[serde(flatten)]
    verdict: Verdict<'a>,
    #[serde(flatten)]
    detail: Detail,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Judges each line of standard input and returns the exit code: 1 when a line could not be used.
pub(crate) async fn explain() -> anyhow::Result<i32> {
    let tools = ToolSet::new(with_web(coding_tools(".")).tools().iter().cloned())?;
    let workspace: Arc<dyn Workspace> = Arc::new(LocalWorkspace::default());
    let (mut refused, mut out) = (false, stdout().lock());
    for line in jsonl::lines::<Question>(stdin().lock(), KEYS) {
        let line = line?;
        let judged = match &line.value {
            Ok(question) => answer(question, &tools, &workspace).await,
            Err(error) => Err(error.clone()),
        };
        match judged {
            Ok(Judged { decision, detail, mut warnings }) => {
                warnings.extend(line.warnings.iter().cloned());
                let answer =
                    ExplainedCall { id: line.id.as_ref(), verdict: Verdict::from(&decision), detail, warnings };
                jsonl::write(&mut out, &answer)?;
            }
            Err(error) => {
                refused = true;
                jsonl::write(&mut out, &line.refuse(&error))?;
            }
        }
    }
    Ok(i32::from(refused))
}

/// Returns the verdict on a call in sentences. The input is a JSON object, or the subject of the call alone.
///
/// # Errors
/// The call cannot be judged.
pub(crate) async fn verdict(tool: &str, input: &str, cwd: &Path) -> Result<String, String> {
    let tools = ToolSet::new(with_web(coding_tools(".")).tools().iter().cloned()).map_err(|error| error.to_string())?;
    let workspace: Arc<dyn Workspace> = Arc::new(LocalWorkspace::default());
    let input = if input.starts_with('{') {
        JsonText::parse(input).map_err(|error| error.to_string())?
    } else {
        let key = if tool == "Bash" { "command" } else { "file_path" };
        JsonText::of(&serde_json::json!({ key: input })).map_err(|error| error.to_string())?
    };
    let question = Question {
        tool: tool.to_owned(),
        input,
        cwd: Some(cwd.to_path_buf()),
        mode: None,
        allow: None,
        deny: None,
        ask: None,
        additional_directories: None,
        settings: Some(true),
        trust: None,
    };
    let Judged { decision, detail, warnings } = answer(&question, &tools, &workspace).await?;
    let mut lines = vec![format!("{}: {}", behavior_word(decision.behavior), decision.message)];
    lines.extend(decision.rule.iter().map(|rule| {
        let place = rule.origin.as_ref().map(|origin| format!(" in {origin}")).unwrap_or_default();
        format!("rule: {} {}{place}", behavior_word(rule.behavior), rule.rule)
    }));
    lines.extend(detail.way().map(|way| format!("allowed by: {way}")));
    lines.extend(warnings);
    Ok(lines.iter().map(|line| crate::terminal::clean_line(line)).collect::<Vec<_>>().join("\n"))
}

/// Result of one line.
struct Judged {
    decision: Decision,
    detail: Detail,
    warnings: Vec<String>,
}

async fn answer(question: &Question, tools: &ToolSet, workspace: &Arc<dyn Workspace>) -> Result<Judged, String> {
    let process = std::env::current_dir().map_err(|error| format!("the current directory cannot be used: {error}"))?;
    let cwd = resolved(&process, question.cwd.as_deref().unwrap_or(Path::new(".")));
    let settings = match question.settings {
        Some(true) => {
            let settings = SettingsArgs { trust: question.trust == Some(true), ..SettingsArgs::default() };
            let project = launch::project(&settings, &cwd).map_err(|error| error.to_string())?;
            Some(project.inspect().map_err(|error| error.to_string())?)
        }
        _ => None,
    };
    let (policy, warnings) = policy(question, &cwd, settings.as_ref())?;
    let call = ToolUse::new("toolu_explain", question.tool.as_str(), question.input.clone());
    let decision = judge(tools, workspace, &policy, &call, &cwd).await;
    let detail = Detail::new(&decision, &question.tool, &question.input, sandbox(question, settings.as_ref()));
    Ok(Judged { decision, detail, warnings })
}

/// Returns the sandbox of the settings, if there is one, and whether a Bash line would run in it.
fn sandbox(question: &Question, settings: Option<&LoadedProject>) -> Option<AuditedSandbox> {
    #[derive(Deserialize)]
    struct CommandInput {
        command: String,
        #[serde(default, rename = "dangerouslyDisableSandbox")]
        leaves: bool,
    }
    let sandbox = settings?.sandbox().filter(|_| question.tool == "Bash")?;
    let CommandInput { command, leaves } = question.input.to().ok()?;
    Some(AuditedSandbox::new(
        "wanted by settings; its level is proved when a session opens",
        sandbox.confines(&command, leaves),
    ))
}

/// Returns the policy of a line. Its rules are flag rules: their patterns start at its directory.
fn policy(question: &Question, cwd: &Path, settings: Option<&LoadedProject>) -> Result<(Policy, Vec<String>), String> {
    let mode = match &question.mode {
        Some(mode) => mode.parse()?,
        None => settings.and_then(|settings| settings.mode(false)).unwrap_or(PermissionMode::Default),
    };
    let mut config = PolicyConfig::new(cwd)
        .with_additional_directories(question.additional_directories.iter().flatten().map(|extra| resolved(cwd, extra)))
        .with_home(std::env::var_os("HOME").map(PathBuf::from))
        .with_mode(mode)
        .with_additional_directories(
            settings.into_iter().flat_map(LoadedProject::directories).map(|extra| resolved(cwd, extra)),
        )
        .with_bypass_allowed(settings.is_none_or(|settings| settings.resolved().permissions.bypass_disabled.is_none()));
    config.auto_allowed = settings.is_none_or(|settings| settings.resolved().permissions.auto_disabled.is_none());
    if let Some(directory) = question.cwd.as_deref().filter(|directory| directory.is_absolute() && *directory != cwd) {
        config = config.with_link(directory, cwd);
    }
    if let Ok(home) = Home::from_env() {
        config = config.with_protected_paths([home.root().to_path_buf()]);
    }
    if let Some(settings) = settings {
        config = config.with_protected_paths(settings.places().protected());
        config = config.with_protected_paths(settings.protected_programs());
    }
    let mut policy = Policy::new(config);
    let mut warnings = settings.map(noted).unwrap_or_default();
    for set in settings.into_iter().flat_map(|settings| &settings.resolved().permissions.rules) {
        policy
            .add_rules(set.source, set.behavior, &set.rules, &set.anchor)
            .map_err(|error| format!("{}: {error}", set.origin))?;
        policy.locate_rules(set.source, set.behavior, &set.origins);
    }
    let rules = [(Behavior::Deny, &question.deny), (Behavior::Ask, &question.ask), (Behavior::Allow, &question.allow)];
    for (behavior, rules) in rules {
        let odd = policy
            .add_rules(RuleSource::CliArg, behavior, rules.as_deref().unwrap_or_default(), cwd)
            .map_err(|error| error.to_string())?;
        warnings.extend(odd.iter().map(ToString::to_string));
    }
    Ok((policy, warnings))
}

/// Resolves the links of a directory, as a session would; a missing directory is used as it is written, so that
/// policies for other machines can be tested.
fn resolved(base: &Path, path: &Path) -> PathBuf {
    let path = absolute(base, path);
    path.canonicalize().unwrap_or(path)
}

/// Returns notices about settings without effect.
fn noted(project: &LoadedProject) -> Vec<String> {
    project.settings_notices().into_iter().map(|notice| notice.text).collect()
}
