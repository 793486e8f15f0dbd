//! One definition, from JSON or from a Markdown file.

use super::definition::{AgentSource, LoadedAgent};
use crate::canonical::content_of;
use crate::front_matter::{self, FrontMatter};
use crate::markdown::one_line;
use crate::spelling::misspelt_key;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use windlass_hook_runner::{HookDefinition, read_hooks};
use windlass_permission::{Policy, PolicyConfig, WELL_KNOWN_TOOLS, split_rules};
use windlass_subagent::AgentDefinition;
use windlass_types::near::is_same_but_for_case;
use windlass_types::{JsonError, JsonText, PermissionMode};

/// Maximum number of characters of a name and of a description.
const MAX_NAME_CHARS: usize = 100;
const MAX_DESCRIPTION_CHARS: usize = 1_536;

/// Keys without effect on an agent's permissions and abilities.
const COSMETIC_KEYS: [&str; 2] = ["color", "version"];
/// Front matter keys that have an effect. Case, `-` and `_` are ignored.
const KNOWN_KEYS: [&str; 14] = [
    "name",
    "description",
    "tools",
    "allowedTools",
    "disallowedTools",
    "model",
    "permissionMode",
    "maxTurns",
    "effort",
    "background",
    "initialPrompt",
    "memory",
    "skills",
    "hooks",
];
/// Keys that restrict an agent. A misspelling of one makes the agent unusable.
const RESTRICTING_KEYS: [&str; 5] = ["tools", "allowedTools", "disallowedTools", "permissionMode", "maxTurns"];

/// Fields of a definition before validation.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    prompt: Option<String>,
    // A key that restricts is understood in every spelling in use; two spellings at once are an error.
    #[serde(default, alias = "allowedTools", alias = "allowed-tools")]
    tools: Option<Names>,
    #[serde(default, alias = "disallowed-tools")]
    disallowed_tools: Option<Names>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default, alias = "permission-mode")]
    permission_mode: Option<String>,
    #[serde(default, alias = "max-turns")]
    max_turns: Option<Value>,
    #[serde(default)]
    initial_prompt: Option<String>,
    #[serde(default)]
    skills: Option<Names>,
    #[serde(default)]
    hooks: Option<Value>,
    #[serde(flatten)]
    preferences: Preferences,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
    /// Notices about front matter values that are not valid YAML and were read as plain text.
    #[serde(skip)]
    notices: Vec<String>,
}

/// Keys that restrict nothing: an unreadable value is ignored instead of being an error.
#[derive(Debug, Default, Deserialize)]
struct Preferences {
    #[serde(default)]
    effort: Option<Value>,
    #[serde(default)]
    background: Option<Value>,
    #[serde(default)]
    memory: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    Text(String),
    List(Vec<String>),
}

impl Names {
    fn list(self) -> Vec<String> {
        let names = match self {
            Self::Text(text) => split_rules(&text),
            Self::List(names) => names,
        };
        names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    }
}

/// A name, and its definition or the problem with it.
type NamedAgent = (String, Result<LoadedAgent, String>);

/// Returns the definitions of a JSON object.
pub(super) fn object(json: &str) -> Result<Vec<NamedAgent>, JsonError> {
    let all: BTreeMap<String, JsonText> = JsonText::parse_strict(json)?.to()?;
    let definition = |(name, text): (String, JsonText)| {
        let raw = text.to::<Raw>().map_err(|error| error.to_string());
        let agent = raw.and_then(|raw| raw.agent(&name, AgentSource::Flags, None));
        (name, agent)
    };
    Ok(all.into_iter().map(definition).collect())
}

/// Returns the definition of a Markdown file; `None` if its head is readable and has no name that can be used.
pub(super) fn file(text: &str, source: AgentSource, path: &Path) -> Option<NamedAgent> {
    let (head, body) = front_matter::split(text);
    let name = head.text("name").filter(|name| is_name(name));
    // A file with unreadable front matter still takes a name, so that no weaker agent gets it.
    let stem = || head.problem().and(path.file_stem()).map(|stem| stem.to_string_lossy().into_owned());
    let name = name.or_else(stem)?;
    let raw = raw(&head, body);
    let agent = raw.and_then(|raw| raw.agent(&name, source, Some(path)));
    Some((name, agent))
}

/// Returns the definition of a Markdown file of a plugin. Its name is that of its head, or else of its file, after the
/// plugin's name and the folders that the file is in.
pub(super) fn file_of_plugin(text: &str, plugin: &str, file: &str, path: &Path) -> NamedAgent {
    let (head, body) = front_matter::split(text);
    let head_name = head.text("name").filter(|name| is_name(name) && !name.contains(':'));
    let file = match (head_name, file.rsplit_once(':')) {
        (Some(head_name), Some((folders, _))) => format!("{folders}:{head_name}"),
        (Some(head_name), None) => head_name,
        (None, _) => file.to_owned(),
    };
    let name = format!("{plugin}:{file}");
    let agent = raw(&head, body).and_then(|raw| raw.agent(&name, AgentSource::Plugin, Some(path)));
    (name, agent)
}

fn raw(head: &FrontMatter, body: &str) -> Result<Raw, String> {
    if let Some(problem) = head.problem() {
        return Err(problem.to_owned());
    }
    let tools = match (head.has("tools"), head.has("allowedTools")) {
        (true, true) => return Err("`tools` and `allowedTools` are the same: keep one".to_owned()),
        (_, false) => "tools",
        (false, true) => "allowedTools",
    };
    let is_known = |key: &&str| KNOWN_KEYS.iter().any(|known| is_same_but_for_case(known, key));
    let other = head.keys().filter(|key| !is_known(key));
    Ok(Raw {
        description: head.text("description"),
        prompt: Some(body.trim().to_owned()),
        // A key that is there and empty means no tool: an agent without tools is noticed at once.
        tools: head.has(tools).then(|| head.rules(tools)).transpose()?.map(Names::List),
        disallowed_tools: Some(Names::List(head.rules("disallowedTools")?)),
        model: head.text("model"),
        permission_mode: head.text("permissionMode"),
        max_turns: head.value("maxTurns"),
        initial_prompt: head.text("initialPrompt"),
        skills: Some(Names::List(head.list("skills")?)),
        hooks: head.value("hooks"),
        preferences: Preferences {
            effort: head.value("effort"),
            background: head.value("background"),
            memory: head.value("memory"),
        },
        other: other.map(|key| (key.to_owned(), Value::Bool(true))).collect(),
        notices: head.notices().to_vec(),
    })
}

/// Returns the head of an agent's file in words for people, without its name and description, and the length of its
/// prompt.
pub(crate) fn shown_head(text: &str) -> String {
    let (head, body) = front_matter::split(text);
    let value = |key: &str| match head.value(key) {
        Some(Value::String(text)) => text,
        value => content_of(&value),
    };
    let keys = head.keys().filter(|key| !matches!(*key, "name" | "description"));
    let parts = keys.map(|key| format!("{key}: {}", value(key)));
    parts.chain([format!("a prompt of {} characters", body.trim().chars().count())]).collect::<Vec<_>>().join("; ")
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.chars().count() <= MAX_NAME_CHARS && !name.contains(char::is_control)
}

impl Raw {
    /// Returns the definition. Fails if a field that may restrict the agent is not understood.
    fn agent(self, name: &str, source: AgentSource, path: Option<&Path>) -> Result<LoadedAgent, String> {
        if !is_name(name) {
            return Err(format!("a name has up to {MAX_NAME_CHARS} characters, and no control characters"));
        }
        let prompt = self.prompt.filter(|prompt| !prompt.trim().is_empty()).ok_or("it has no prompt")?;
        let (is_plugin_agent, wants_mode) = (source == AgentSource::Plugin, self.permission_mode.is_some());
        let permission_mode = self
            .permission_mode
            .filter(|mode| !mode.is_empty() && !is_plugin_agent)
            .map(|mode| mode.parse::<PermissionMode>())
            .transpose()?;
        if let Some(problem) = self.other.keys().find_map(|key| misspelt_key(key, &RESTRICTING_KEYS)) {
            return Err(problem);
        }
        let max_turns = self.max_turns.filter(|turns| !turns.is_null()).map(|value| turns(&value)).transpose()?;
        let mut without_effect: Vec<String> =
            self.other.into_keys().filter(|key| !COSMETIC_KEYS.contains(&key.as_str())).collect();
        if is_plugin_agent && wants_mode {
            without_effect.push("permissionMode".to_owned());
        }
        if is_plugin_agent && self.hooks.is_some() {
            without_effect.push("hooks".to_owned());
        }
        let hooks = hooks(self.hooks.filter(|_| !is_plugin_agent), &mut without_effect)?;
        let Preferences { effort, background, memory } = self.preferences;
        let effort = read_preference(effort, "effort", |effort| effort.as_str()?.parse().ok(), &mut without_effect);
        let parse_bool = |value: &Value| value.as_bool().or(value.as_str().and_then(|text| text.parse().ok()));
        let background = read_preference(background, "background", parse_bool, &mut without_effect);
        let memory = read_preference(memory, "memory", |memory| memory.as_str()?.parse().ok(), &mut without_effect);
        without_effect.sort();
        let tools = self.tools.map(|names| known_tools(names.list()));
        let description = one_line(&self.description.unwrap_or_default(), MAX_DESCRIPTION_CHARS);
        let mut definition = AgentDefinition::new(name, description, prompt);
        definition = match tools {
            Some(names) if names.iter().any(|name| name == "*") => definition.with_all_tools(),
            Some(names) => definition.with_tools(names),
            None => definition,
        };
        check_rules(&definition.tool_rules)?;
        definition.disallowed_tools = self.disallowed_tools.map(|names| known_tools(names.list())).unwrap_or_default();
        definition.model = self.model.filter(|model| !model.is_empty() && model != "inherit");
        (definition.permission_mode, definition.max_turns, definition.effort) = (permission_mode, max_turns, effort);
        (definition.background, definition.memory) = (background, memory);
        definition.skills = self.skills.map(Names::list).unwrap_or_default();
        Ok(LoadedAgent {
            definition,
            initial_prompt: self.initial_prompt.filter(|text| !text.trim().is_empty()),
            hooks,
            source,
            path: path.map(Path::to_path_buf),
            without_effect,
            notices: self.notices,
        })
    }
}

/// Returns the tools and rules with known tool names in their canonical spelling: `read` becomes `Read`.
fn known_tools(names: Vec<String>) -> Vec<String> {
    let spelt = |text: &String| {
        let name = text.split('(').next().unwrap_or_default();
        let known = WELL_KNOWN_TOOLS.iter().find(|known| known.eq_ignore_ascii_case(name.trim()))?;
        Some(format!("{known}{}", text.get(name.len()..)?))
    };
    names.into_iter().map(|text| spelt(&text).unwrap_or(text)).collect()
}

/// Refuses an agent whose tools are limited by unusable rules.
fn check_rules(rules: &[String]) -> Result<(), String> {
    let mut policy = Policy::new(PolicyConfig::new("/"));
    policy.limit_tools(rules, Path::new("/")).map_err(|error| format!("`tools`: {error}"))
}

/// Reads the value of a preference. An unreadable value has no effect and is added to `without_effect`.
fn read_preference<T>(
    value: Option<Value>,
    key: &str,
    read: impl Fn(&Value) -> Option<T>,
    without_effect: &mut Vec<String>,
) -> Option<T> {
    let value = value.filter(|value| !value.is_null())?;
    let parsed = read(&value);
    if parsed.is_none() {
        without_effect.push(format!("{key}: {}", one_line(&value.to_string(), 40)));
    }
    parsed
}

/// Returns the hooks of an agent. An unusable hook of a gate makes the agent unusable.
fn hooks(value: Option<Value>, without_effect: &mut Vec<String>) -> Result<Vec<HookDefinition>, String> {
    let read = read_hooks(&value.unwrap_or_default());
    if let Some(broken) = read.broken.first() {
        return Err(broken.to_string());
    }
    without_effect.extend(read.notes);
    Ok(read.hooks)
}

fn turns(value: &Value) -> Result<u32, String> {
    let turns = value.as_u64().and_then(|turns| u32::try_from(turns).ok()).filter(|turns| *turns > 0);
    turns.ok_or_else(|| format!("maxTurns is a whole number above zero, not {}", one_line(&value.to_string(), 40)))
}
