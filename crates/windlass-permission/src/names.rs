//! The names of tools, and the kinds of tools.

use windlass_types::names::WRITERS;
use windlass_types::{Access, JsonText};

pub use windlass_types::names::WELL_KNOWN_TOOLS;
pub(crate) use windlass_types::names::present_tool as canonical;

/// Returns the server and the tool in the name of a server's tool.
pub(crate) fn server_and_tool(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

/// Returns `true` for tools that change files, all covered by `Edit(path)`.
pub(crate) fn is_edit_tool(name: &str) -> bool {
    WRITERS.contains(&name)
}

/// Returns `true` for tools that read files, all covered by `Read(path)`.
pub(crate) fn is_read_tool(name: &str) -> bool {
    matches!(name, "Read" | "Glob" | "Grep" | "LS" | "NotebookRead")
}

/// Returns `true` for tools that show names of files, not their content.
pub(crate) fn only_lists(name: &str) -> bool {
    matches!(name, "Glob" | "LS")
}

/// Returns `true` for tools that read everything below a path, and filter their findings through `Policy::may_read`.
pub(crate) fn searches_trees(name: &str) -> bool {
    matches!(name, "Glob" | "Grep" | "LS")
}

/// Returns `true` for tools that are themselves a question.
pub(crate) fn asks_the_user(name: &str) -> bool {
    matches!(name, "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode")
}

/// Returns `true` for tools that only fetch from the network.
pub(crate) fn only_fetches(name: &str) -> bool {
    matches!(name, "WebFetch" | "WebSearch")
}

/// Returns the access of a call whose tool is not installed. It is known for well-known names; every other call has
/// unknown access.
pub fn access_of_unknown(tool: &str, input: &JsonText) -> Access {
    let text = |field: &str| {
        let fields = input.to::<std::collections::BTreeMap<String, JsonText>>().ok()?;
        fields.get(field)?.to::<String>().ok()
    };
    match tool {
        "NotebookEdit" => text("notebook_path").map_or(Access::Unknown, Access::writes),
        "Skill" => Access::NOTHING,
        name if only_fetches(name) => Access::Network,
        name if asks_the_user(name) => Access::NOTHING,
        _ => Access::Unknown,
    }
}

/// Returns the fields of a tool's input that a rule may compare, for tools whose specifier has another meaning.
pub(crate) fn secondary_fields(tool: &str) -> &'static [&'static str] {
    match tool {
        "Bash" => &["description", "dangerouslyDisableSandbox", "run_in_background", "timeout"],
        "Read" => &["allow_large", "limit", "offset", "pages"],
        "Edit" | "MultiEdit" => &["new_string", "old_string", "replace_all"],
        "Write" => &["content"],
        "NotebookEdit" => &["cell_id", "cell_type", "edit_mode", "new_source"],
        "apply_patch" => &["input"],
        "Glob" => &["pattern"],
        "Grep" => &["glob", "head_limit", "multiline", "output_mode", "pattern", "type"],
        "WebFetch" => &["offset", "prompt"],
        "Agent" => &["description", "effort", "isolation", "mode", "model", "name", "prompt", "run_in_background"],
        "Skill" => &["args"],
        _ => &[],
    }
}

/// Fields that rules never compare by name, because the tool's own specifier does it better.
pub(crate) fn is_primary_field(field: &str) -> bool {
    matches!(field, "command" | "file_path" | "path" | "notebook_path" | "url")
}
