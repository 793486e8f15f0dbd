//! Clients whose configuration is known, and the places of it.

use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// A program whose MCP servers can be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// The desktop application of Claude.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// Cline, in Visual Studio Code.
    Cline,
    /// The Gemini command.
    Gemini,
    /// Codex.
    Codex,
    /// Goose.
    Goose,
    /// Opencode.
    Opencode,
}

impl Client {
    pub(super) const ALL: [Self; 10] = [
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::Vscode,
        Self::Windsurf,
        Self::Zed,
        Self::Cline,
        Self::Gemini,
        Self::Codex,
        Self::Goose,
        Self::Opencode,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::Cline => "cline",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Goose => "goose",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the path of members to the client's servers.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
            Self::Codex => "mcp_servers",
            Self::Goose => "extensions",
            Self::Opencode => "mcp",
            _ => "mcpServers",
        }
    }

    /// Returns the possible files of the configuration: that of the project first. `lookup` gives absolute paths of
    /// environment variables.
    pub(super) fn files(self, lookup: &dyn Fn(&str) -> Option<PathBuf>, project: &Path) -> Vec<PathBuf> {
        let home = lookup("HOME").or_else(|| lookup("USERPROFILE"));
        let under = |base: Option<PathBuf>, path: &str| base.map(|base| base.join(path));
        let config = configuration(lookup, home.clone());
        let zed = if cfg!(windows) { under(config.clone(), "Zed") } else { under(home.clone(), ".config/zed") };
        let code = under(config.clone(), "Code/User");
        let all = match self {
            Self::ClaudeDesktop => vec![under(config, "Claude/claude_desktop_config.json")],
            Self::Cursor => vec![Some(project.join(".cursor/mcp.json")), under(home, ".cursor/mcp.json")],
            Self::Vscode => vec![Some(project.join(".vscode/mcp.json")), under(code, "mcp.json")],
            Self::Windsurf => vec![under(home, ".codeium/windsurf/mcp_config.json")],
            Self::Zed => vec![Some(project.join(".zed/settings.json")), under(zed, "settings.json")],
            Self::Cline => {
                vec![under(code, "globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")]
            }
            Self::Codex => vec![Some(project.join(".codex/config.toml")), under(home, ".codex/config.toml")],
            Self::Goose => vec![under(home, ".config/goose/config.yaml")],
            Self::Opencode => vec![Some(project.join("opencode.json")), under(home, ".config/opencode/opencode.json")],
            Self::Gemini => vec![Some(project.join(".gemini/settings.json")), under(home, ".gemini/settings.json")],
        };
        all.into_iter().flatten().collect()
    }
}

/// Returns the folder in which programs of this system keep the user's configuration.
fn configuration(lookup: &dyn Fn(&str) -> Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    if cfg!(windows) {
        return lookup("APPDATA");
    }
    if cfg!(target_os = "macos") {
        return home.map(|home| home.join("Library/Application Support"));
    }
    lookup("XDG_CONFIG_HOME").or_else(|| home.map(|home| home.join(".config")))
}
