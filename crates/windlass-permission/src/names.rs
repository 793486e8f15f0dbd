//! The names of tools.

/// The present name of a tool that may be called by an old one.
pub(crate) fn canonical(name: &str) -> &str {
    match name {
        "Task" => "Agent",
        "KillShell" | "KillBash" => "TaskStop",
        "ListPeers" => "ListAgents",
        "Brief" => "SendUserMessage",
        "ListMcpResources" => "ListMcpResourcesTool",
        "ReadMcpResource" => "ReadMcpResourceTool",
        "ReadMcpResourceDir" => "ReadMcpResourceDirTool",
        "ProposeGoal" => "SetGoal",
        other => other,
    }
}
