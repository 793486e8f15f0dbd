//! The key `sandbox`: settings of one file, and the resolved settings of all files.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::note::{Note, Origin};
use crate::settings_file::SettingsFile;

/// The key `sandbox` of a settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxSettings {
    /// `true` if commands should run in a sandbox; `None` if the file does not set it.
    pub enabled: Option<bool>,
    /// `true` if no command should run without a sandbox; `None` if the file does not set it.
    pub fail_if_unavailable: Option<bool>,
    /// `true` if commands in the sandbox need no permission request (`autoAllowBashIfSandboxed`).
    pub auto_allow: Option<bool>,
    /// `true` if a command may ask to run outside (`allowUnsandboxedCommands`).
    pub allow_unsandboxed: Option<bool>,
    /// `true` if a sandbox with incomplete isolation is acceptable (`enableWeakerNestedSandbox`).
    pub weaker: Option<bool>,
    /// `true` if programs may open Unix sockets (`network.allowAllUnixSockets`).
    pub unix_sockets: Option<bool>,
    /// Path of bubblewrap (`bwrapPath`).
    pub bubblewrap: Option<PathBuf>,
    /// Commands that run outside, in the form of rules (`excludedCommands`).
    pub excluded: Vec<String>,
    /// MCP servers whose programs run outside, by name; `*` means all (`excludedMcpServers`).
    pub excluded_servers: Vec<String>,
    /// Language servers whose programs run outside, by name; `*` means all (`excludedLanguageServers`).
    pub excluded_language_servers: Vec<String>,
    /// Hosts that programs may reach (`network.allowedDomains`), and may not (`network.deniedDomains`).
    pub domains: SandboxDomains,
    /// Paths with rights of their own, as the file writes them.
    pub files: SandboxFiles,
}

impl SandboxSettings {
    /// Returns only the settings that narrow.
    pub(crate) fn restrictions(&self) -> Self {
        let on = |on: Option<bool>| on.filter(|on| *on);
        let off = |on: Option<bool>| on.filter(|on| !on);
        Self {
            enabled: on(self.enabled),
            fail_if_unavailable: on(self.fail_if_unavailable),
            auto_allow: off(self.auto_allow),
            allow_unsandboxed: off(self.allow_unsandboxed),
            weaker: off(self.weaker),
            unix_sockets: off(self.unix_sockets),
            bubblewrap: None,
            excluded: Vec::new(),
            excluded_servers: Vec::new(),
            excluded_language_servers: Vec::new(),
            domains: SandboxDomains {
                denied: self.domains.denied.clone(),
                shared: off(self.domains.shared),
                ..SandboxDomains::default()
            },
            files: SandboxFiles {
                allow_write: Vec::new(),
                deny_write: self.files.deny_write.clone(),
                allow_read: Vec::new(),
                deny_read: self.files.deny_read.clone(),
            },
        }
    }
}

/// Hosts that programs in a sandbox may and may not reach, as patterns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxDomains {
    /// Hosts that programs may reach.
    pub allowed: Vec<String>,
    /// Hosts that programs may not reach, even if they are allowed.
    pub denied: Vec<String>,
    /// `true` if hosts allowed here are allowed to WebFetch as well, and the other way round (`sharedWithWebFetch`).
    /// Denied hosts are denied to both in any case.
    pub shared: Option<bool>,
}

/// Paths with rights of their own in a sandbox. A leading `~/` is the home of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxFiles {
    /// Programs may write there.
    pub allow_write: Vec<PathBuf>,
    /// Programs may not write there.
    pub deny_write: Vec<PathBuf>,
    /// Programs may read there, although it would be hidden.
    pub allow_read: Vec<PathBuf>,
    /// Programs may not read there.
    pub deny_read: Vec<PathBuf>,
}

/// Resolved key `sandbox`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedSandbox {
    /// The file that wants commands to run in a sandbox.
    pub enabled: Option<Origin>,
    /// The file that wants no command to run without a sandbox.
    pub required: Option<Origin>,
    /// All values, of files that may set them. The lists of all files are joined.
    pub settings: SandboxSettings,
}

impl ResolvedSandbox {
    /// Clears `enabled` and `required` unless the sandbox is on: only an enabled sandbox can be required.
    pub(crate) fn settle(&mut self) {
        let is_on = self.settings.enabled == Some(true);
        self.enabled = self.enabled.take().filter(|_| is_on);
        self.required = self.required.take().filter(|_| is_on && self.settings.fail_if_unavailable == Some(true));
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RawSandbox {
    enabled: Option<bool>,
    fail_if_unavailable: Option<bool>,
    auto_allow_bash_if_sandboxed: Option<bool>,
    allow_unsandboxed_commands: Option<bool>,
    enable_weaker_nested_sandbox: Option<bool>,
    bwrap_path: Option<PathBuf>,
    excluded_commands: Option<Vec<String>>,
    excluded_mcp_servers: Option<Vec<String>>,
    excluded_language_servers: Option<Vec<String>>,
    network: Option<RawNetwork>,
    filesystem: Option<RawFiles>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawNetwork {
    allow_all_unix_sockets: Option<bool>,
    allowed_domains: Option<Vec<String>>,
    denied_domains: Option<Vec<String>>,
    shared_with_web_fetch: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawFiles {
    allow_write: Option<Vec<PathBuf>>,
    deny_write: Option<Vec<PathBuf>>,
    allow_read: Option<Vec<PathBuf>>,
    deny_read: Option<Vec<PathBuf>>,
}

impl RawSandbox {
    pub(crate) fn settings(self) -> SandboxSettings {
        let (network, files) = (self.network.unwrap_or_default(), self.filesystem.unwrap_or_default());
        SandboxSettings {
            enabled: self.enabled,
            fail_if_unavailable: self.fail_if_unavailable,
            auto_allow: self.auto_allow_bash_if_sandboxed,
            allow_unsandboxed: self.allow_unsandboxed_commands,
            weaker: self.enable_weaker_nested_sandbox,
            unix_sockets: network.allow_all_unix_sockets,
            bubblewrap: self.bwrap_path,
            excluded: self.excluded_commands.unwrap_or_default(),
            excluded_servers: self.excluded_mcp_servers.unwrap_or_default(),
            excluded_language_servers: self.excluded_language_servers.unwrap_or_default(),
            domains: SandboxDomains {
                allowed: network.allowed_domains.unwrap_or_default(),
                denied: network.denied_domains.unwrap_or_default(),
                shared: network.shared_with_web_fetch,
            },
            files: SandboxFiles {
                allow_write: files.allow_write.unwrap_or_default(),
                deny_write: files.deny_write.unwrap_or_default(),
                allow_read: files.allow_read.unwrap_or_default(),
                deny_read: files.deny_read.unwrap_or_default(),
            },
        }
    }
}

/// Adds a file to the stronger ones. A narrowing setting applies from every file; a widening one only from files
/// outside of the project.
pub(crate) fn read(file: &SettingsFile, resolved: &mut ResolvedSandbox, notes: &mut Vec<Note>) {
    let (settings, merged) = (&file.settings.sandbox, &mut resolved.settings);
    let outside = !file.layer.lies_in_project();
    // Switches whose `true` narrows.
    let confines = |value: Option<bool>| value.filter(|value| *value || outside);
    if merged.enabled.is_none() {
        merged.enabled = confines(settings.enabled);
        resolved.enabled = merged.enabled.map(|_| file.origin.clone());
    }
    if merged.fail_if_unavailable.is_none() {
        merged.fail_if_unavailable = confines(settings.fail_if_unavailable);
        resolved.required = merged.fail_if_unavailable.map(|_| file.origin.clone());
    }
    // Switches whose `false` narrows.
    let frees = |value: Option<bool>| value.filter(|value| !*value || outside);
    merged.auto_allow = merged.auto_allow.or(frees(settings.auto_allow));
    merged.allow_unsandboxed = merged.allow_unsandboxed.or(frees(settings.allow_unsandboxed));
    merged.weaker = merged.weaker.or(frees(settings.weaker));
    merged.unix_sockets = merged.unix_sockets.or(frees(settings.unix_sockets));
    merged.domains.shared = merged.domains.shared.or(frees(settings.domains.shared));
    merged.domains.denied.extend(settings.domains.denied.iter().cloned());
    let mut unusable = Vec::new();
    let mut paths = |all: &[PathBuf]| -> Vec<PathBuf> {
        let (usable, patterns): (Vec<_>, Vec<_>) =
            all.iter().map(|path| plain(path)).partition(|path| !has_pattern(path));
        unusable.extend(patterns);
        usable.into_iter().map(|path| anchored(path, &file.anchor)).collect()
    };
    merged.files.deny_write.extend(paths(&settings.files.deny_write));
    merged.files.deny_read.extend(paths(&settings.files.deny_read));
    if outside {
        merged.bubblewrap = merged.bubblewrap.take().or_else(|| settings.bubblewrap.clone());
        merged.excluded.extend(settings.excluded.iter().cloned());
        merged.excluded_servers.extend(settings.excluded_servers.iter().cloned());
        merged.excluded_language_servers.extend(settings.excluded_language_servers.iter().cloned());
        merged.domains.allowed.extend(settings.domains.allowed.iter().cloned());
        merged.files.allow_write.extend(paths(&settings.files.allow_write));
        merged.files.allow_read.extend(paths(&settings.files.allow_read));
    } else if *settings != narrowing(settings) {
        notes.push(Note::new(&file.origin, "what frees commands of the sandbox does not count in a file of a project"));
    }
    for path in unusable {
        let shown = path.display();
        notes.push(Note::new(
            &file.origin,
            format!("sandbox.filesystem: {shown} does not count: it is a pattern of file names"),
        ));
    }
}

/// Returns the part of the settings that narrows.
fn narrowing(settings: &SandboxSettings) -> SandboxSettings {
    let not_true = |value: Option<bool>| value.filter(|value| !value);
    SandboxSettings {
        auto_allow: not_true(settings.auto_allow),
        allow_unsandboxed: not_true(settings.allow_unsandboxed),
        weaker: not_true(settings.weaker),
        unix_sockets: not_true(settings.unix_sockets),
        bubblewrap: None,
        excluded: Vec::new(),
        excluded_servers: Vec::new(),
        excluded_language_servers: Vec::new(),
        domains: SandboxDomains {
            denied: settings.domains.denied.clone(),
            shared: not_true(settings.domains.shared),
            ..SandboxDomains::default()
        },
        files: SandboxFiles { allow_write: Vec::new(), allow_read: Vec::new(), ..settings.files.clone() },
        ..settings.clone()
    }
}

/// Returns a path without the ending that means a whole directory.
fn plain(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let plain = text.strip_suffix("/**").or_else(|| text.strip_suffix("/*")).unwrap_or(&text);
    let plain = plain.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(plain);
    if plain.is_empty() { path.to_owned() } else { PathBuf::from(plain) }
}

fn has_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '['])
}

fn anchored(path: PathBuf, anchor: &Path) -> PathBuf {
    if path.is_absolute() || path.starts_with("~") { path } else { anchor.join(path) }
}

#[cfg(test)]
mod tests;
