//! Definitions of agents.

use windlass_types::{Effort, PermissionMode};

/// Name of the tool that gives tasks to agents.
pub const AGENT_TOOL_NAME: &str = "Agent";

/// Scope of the notes of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryScope {
    /// Notes for the user, in all projects.
    User,
    /// Notes for all who work on the project; they are stored in it.
    Project,
    /// Notes for the user, in this project.
    Local,
}

impl MemoryScope {
    /// Returns the name: `user`, `project`, `local`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

impl std::str::FromStr for MemoryScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "user" => Ok(Self::User),
            "project" => Ok(Self::Project),
            "local" => Ok(Self::Local),
            other => Err(format!("there is no memory {other:?}: user, project or local")),
        }
    }
}

/// Definition of an agent: its task, tools and settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentDefinition {
    /// Name of the agent, which is its type.
    pub name: String,
    /// Line about when to use the agent, for the model that chooses.
    pub description: String,
    /// System prompt.
    pub prompt: String,
    /// Names of the only tools that the agent has; `mcp__server` and `mcp__server__*` are all tools of a server.
    /// Absent: those of its parent, but the ones that run programs or write files only with
    /// [`all_tools`](Self::all_tools), or if the user allows the parent to use them, by a rule or the mode.
    pub tools: Option<Vec<String>>,
    /// `true` if the agent has all tools of its parent when [`tools`](Self::tools) is absent.
    pub all_tools: bool,
    /// Rules that limit [`tools`](Self::tools) to the calls that they cover, such as `Bash(npm test *)`.
    pub tool_rules: Vec<String>,
    /// Tools that the agent does not have, and rules of calls that are refused.
    pub disallowed_tools: Vec<String>,
    /// Model, by id or alias. Absent: that of its parent.
    pub model: Option<String>,
    /// Permission mode. Below another agent it applies only if it permits less than the mode of the parent.
    pub permission_mode: Option<PermissionMode>,
    /// Maximum number of model messages in a run; above zero. Absent: no limit of its own.
    pub max_turns: Option<u32>,
    /// Thinking effort of the model. Absent: that of its parent.
    pub effort: Option<Effort>,
    /// `true` if the agent runs in the background when the call does not decide it. Absent: the default of the set of
    /// agents.
    pub background: Option<bool>,
    /// Scope of the notes of earlier sessions that the agent reads and writes. Used in sessions of a project that have
    /// a memory. Absent: that of its parent.
    pub memory: Option<MemoryScope>,
    /// Names of the skills that are appended in full to the prompt. Used in sessions of a project.
    pub skills: Vec<String>,
}

impl AgentDefinition {
    /// Returns a definition with the model of its parent, and with those of its tools that read.
    pub fn new(name: impl Into<String>, description: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            prompt: prompt.into(),
            tools: None,
            all_tools: false,
            tool_rules: Vec::new(),
            disallowed_tools: Vec::new(),
            model: None,
            permission_mode: None,
            max_turns: None,
            effort: None,
            background: None,
            memory: None,
            skills: Vec::new(),
        }
    }

    /// Sets the only [tools](Self::tools) that the agent has, by name or by a rule: with `Bash(npm test *)` it has
    /// `Bash` for these commands.
    #[must_use]
    pub fn with_tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        let (rules, plain): (Vec<String>, Vec<String>) =
            names.into_iter().map(Into::into).partition(|name| name.contains('('));
        let tool = |rule: &String| rule.split('(').next().unwrap_or_default().trim().to_owned();
        let mut tools = plain.clone();
        for rule in &rules {
            let name = tool(rule);
            if !tools.contains(&name) {
                tools.push(name);
            }
        }
        self.tools = Some(tools);
        // A tool that is also named without a rule is available for all calls.
        self.tool_rules = rules.into_iter().filter(|rule| !plain.contains(&tool(rule))).collect();
        self
    }

    /// Returns the list of tools as it is written: names, and instead of a name the rules that limit it. `None` without
    /// a list.
    #[must_use]
    pub fn tool_list(&self) -> Option<Vec<&str>> {
        let mut list = Vec::new();
        for name in self.tools.as_ref()? {
            let before = list.len();
            let is_own = |rule: &&String| rule.split('(').next().unwrap_or_default().trim() == name;
            list.extend(self.tool_rules.iter().filter(is_own).map(String::as_str));
            if list.len() == before {
                list.push(name);
            }
        }
        Some(list)
    }

    /// Gives the agent all [tools](Self::all_tools) of its parent.
    #[must_use]
    pub fn with_all_tools(mut self) -> Self {
        (self.tools, self.all_tools) = (None, true);
        self
    }

    /// Adds tools that the agent does not have, and rules of calls that are refused.
    #[must_use]
    pub fn without_tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.disallowed_tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the model, by id or alias.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the [permission mode](Self::permission_mode).
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Sets the maximum number of model messages in a run.
    #[must_use]
    pub fn with_max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Sets the thinking effort of the model.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Sets the scope of the agent's [notes](Self::memory).
    #[must_use]
    pub fn with_memory(mut self, scope: MemoryScope) -> Self {
        self.memory = Some(scope);
        self
    }

    /// Adds [skills](Self::skills) that are appended in full to the prompt.
    #[must_use]
    pub fn with_skills<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.skills.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets whether the agent runs in the background when the call does not decide it.
    #[must_use]
    pub fn in_background(mut self, on: bool) -> Self {
        self.background = Some(on);
        self
    }
}
