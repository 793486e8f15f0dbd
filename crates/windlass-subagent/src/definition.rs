//! What an agent is for, and what it has.

use windlass_types::{Effort, PermissionMode};

/// The name of the tool that gives tasks to agents.
pub const AGENT_TOOL_NAME: &str = "Agent";

/// Whom the notes of an agent are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryScope {
    /// The user, in all projects.
    User,
    /// All who work on the project: the notes lie in it.
    Project,
    /// The user, in this project.
    Local,
}

impl MemoryScope {
    /// Its name: `user`, `project`, `local`.
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

/// What an agent is for, and what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentDefinition {
    /// What it is called: its type.
    pub name: String,
    /// When to use it, in a line, for the model that chooses.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The only tools that it has, by name; `mcp__server` and `mcp__server__*` are all tools of a server.
    /// Absent: those of its parent, but the ones that run programs or write files only with [`all_tools`](Self::all_tools), or if the
    /// user allows the parent to use them, by a rule or the mode.
    pub tools: Option<Vec<String>>,
    /// `true` if it has all tools of its parent where [`tools`](Self::tools) are absent.
    pub all_tools: bool,
    /// Rules that limit [`tools`](Self::tools) to the calls that they cover, such as `Bash(npm test *)`.
    pub tool_rules: Vec<String>,
    /// Tools that it does not have, and rules of calls that are refused.
    pub disallowed_tools: Vec<String>,
    /// Its model, by id or alias. Absent: that of its parent.
    pub model: Option<String>,
    /// The permission mode that it wants. Below another agent it counts only if it permits less than the mode of its parent.
    pub permission_mode: Option<PermissionMode>,
    /// Most model messages in a run; above zero. Absent: no limit of its own.
    pub max_turns: Option<u32>,
    /// How much its model spends on an answer. Absent: as its parent.
    pub effort: Option<Effort>,
    /// Whether it runs in the background when the call does not decide it. Absent: the default of the set of agents.
    pub background: Option<bool>,
    /// Whose notes of earlier sessions it has and writes. They count in sessions of a project that have a memory. Absent: those of
    /// its parent.
    pub memory: Option<MemoryScope>,
    /// Skills that stand in full behind its prompt, by name. They count in sessions of a project.
    pub skills: Vec<String>,
}

impl AgentDefinition {
    /// An agent with the model of its parent, and with those of its tools that read.
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

    /// Sets the only [tools](Self::tools) that it has, by name or by a rule: with `Bash(npm test *)` it has `Bash` for these commands.
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
        // A tool that is named without a rule, too, is there for all calls.
        self.tool_rules = rules.into_iter().filter(|rule| !plain.contains(&tool(rule))).collect();
        self
    }

    /// The list of its tools as it is written: names, and rules in the place of names that they limit. `None` without a list.
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

    /// Gives it all [tools](Self::all_tools) of its parent.
    #[must_use]
    pub fn with_all_tools(mut self) -> Self {
        (self.tools, self.all_tools) = (None, true);
        self
    }

    /// Adds tools that it does not have, and rules of calls that are refused.
    #[must_use]
    pub fn without_tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.disallowed_tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets its model, by id or alias.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the [permission mode](Self::permission_mode) that it wants.
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Sets the most model messages in a run.
    #[must_use]
    pub fn with_max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Sets how much its model spends on an answer.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Sets whose [notes](Self::memory) it has.
    #[must_use]
    pub fn with_memory(mut self, scope: MemoryScope) -> Self {
        self.memory = Some(scope);
        self
    }

    /// Adds [skills](Self::skills) that stand in full behind its prompt.
    #[must_use]
    pub fn with_skills<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.skills.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets whether it runs in the background when the call does not decide it.
    #[must_use]
    pub fn in_background(mut self, on: bool) -> Self {
        self.background = Some(on);
        self
    }
}
