//! Groups of calls, for people and programs that decide about all calls of a kind.

use crate::{Access, mcp_name};
use serde::{Deserialize, Serialize};

/// A group of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PermissionGroup {
    /// Calls that only read: files, or pages of the web (`WebFetch`, `WebSearch`).
    ReadOnly,
    /// Calls that change files that they name.
    Edit,
    /// Calls that run programs.
    Execution,
    /// Calls of tools of MCP servers, whatever these do.
    Mcp,
    /// All other calls.
    #[default]
    Other,
}

impl PermissionGroup {
    /// Returns the group of a call, by its tool and its access. A command belongs to those that run programs, also one
    /// that only reads.
    pub fn of(tool: &str, access: &Access) -> Self {
        match access {
            _ if tool.starts_with(mcp_name::PREFIX) => Self::Mcp,
            Access::Reads(_) => Self::ReadOnly,
            Access::Network if matches!(tool, "WebFetch" | "WebSearch") => Self::ReadOnly,
            Access::Writes(_) => Self::Edit,
            Access::Exec => Self::Execution,
            _ => Self::Other,
        }
    }

    /// Returns the name for hosts, such as `read_only`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Edit => "edit",
            Self::Execution => "execution",
            Self::Mcp => "mcp",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_touches_says_its_group() {
        for (tool, access, group) in [
            ("Read", Access::reads("/a"), PermissionGroup::ReadOnly),
            ("Write", Access::writes("/a"), PermissionGroup::Edit),
            ("Bash", Access::Exec, PermissionGroup::Execution),
            ("mcp__files__read", Access::reads("/a"), PermissionGroup::Mcp),
            ("mine", Access::Unknown, PermissionGroup::Other),
            ("WebFetch", Access::Network, PermissionGroup::ReadOnly),
            ("WebSearch", Access::Network, PermissionGroup::ReadOnly),
            ("mine", Access::Network, PermissionGroup::Other),
        ] {
            assert_eq!(PermissionGroup::of(tool, &access), group, "{tool}");
        }
    }
}
