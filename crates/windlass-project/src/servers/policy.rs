//! Which MCP servers may be connected at all, wherever they are defined.

use super::pattern::{Ready, ServerAddress, ServerPattern};
use crate::canonical::content_of;
use crate::note::{Note, Origin};
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::TrustKind;
use std::collections::BTreeSet;

/// `deniedMcpServers` and `allowedMcpServers` of all settings files.
///
/// What a file denies always counts. The lists of what is allowed join, as far as their files count in full;
/// one of a project's shared file, or of a project that is not trusted, can only narrow that. With
/// `allowManagedMcpServersOnly` of a managed file only managed lists can allow servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLists {
    /// Servers that are kept out.
    pub denied: Vec<(ServerPattern, Origin)>,
    /// Lists of servers that may be connected. A server must be in each of them.
    pub allowed: Vec<AllowedServers>,
    /// The file that wants only managed lists to allow servers.
    pub managed_only: Option<Origin>,
    /// A list that cannot be read, and why: it keeps all servers out.
    pub unreadable: Option<Note>,
}

/// A list of servers that may be connected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllowedServers {
    /// The servers.
    pub patterns: Vec<ServerPattern>,
    /// The files that it comes from.
    pub origins: BTreeSet<Origin>,
}

impl ServerLists {
    pub(crate) fn join(files: &[SettingsFile], notes: &mut Vec<Note>) -> Self {
        let mut lists = Self::default();
        let managed = |file: &&SettingsFile| file.layer == Layer::Managed;
        let only = |file: &&SettingsFile| file.settings.server_lists.managed_only;
        lists.managed_only = files.iter().filter(managed).find(only).map(|file| file.origin.clone());
        let mut joined: Option<AllowedServers> = None;
        for layer in Layer::STRONGEST_FIRST {
            for file in files.iter().filter(|file| file.layer == layer) {
                lists.add(file, &mut joined, notes);
            }
        }
        if let (None, Some(origin)) = (&joined, &lists.managed_only) {
            joined = Some(AllowedServers { patterns: Vec::new(), origins: BTreeSet::from([origin.clone()]) });
        }
        lists.allowed.splice(0..0, joined);
        lists
    }

    fn add(&mut self, file: &SettingsFile, joined: &mut Option<AllowedServers>, notes: &mut Vec<Note>) {
        let server_lists = &file.settings.server_lists;
        match &server_lists.denied {
            None => {}
            Some(Ok(patterns)) => {
                self.denied.extend(patterns.iter().map(|pattern| (pattern.clone(), file.origin.clone())));
            }
            Some(Err(problem)) => self.cannot_read(&file.origin, "deniedMcpServers", problem, notes),
        }
        if server_lists.managed_only && file.layer != Layer::Managed {
            notes.push(Note::new(&file.origin, "`allowManagedMcpServersOnly` counts in managed settings only"));
        }
        match &server_lists.allowed {
            None => {}
            Some(_) if self.managed_only.is_some() && file.layer != Layer::Managed => {
                notes.push(Note::new(&file.origin, "`allowedMcpServers` counts in managed settings only"));
            }
            Some(Ok(patterns)) => {
                let trusted = || file.covers(TrustKind::Setting, "allowedMcpServers", &content_of(patterns));
                let list = if !file.is_shared() && trusted() {
                    joined.get_or_insert_default()
                } else {
                    self.allowed.push(AllowedServers::default());
                    let Some(list) = self.allowed.last_mut() else { return };
                    list
                };
                list.patterns.extend(patterns.iter().cloned());
                list.origins.insert(file.origin.clone());
            }
            Some(Err(problem)) => self.cannot_read(&file.origin, "allowedMcpServers", problem, notes),
        }
    }

    fn cannot_read(&mut self, origin: &Origin, key: &str, problem: &str, notes: &mut Vec<Note>) {
        let note = Note::new(origin, format!("`{key}`: {problem}, so no MCP server is started"));
        notes.push(note.clone());
        self.unreadable.get_or_insert(note);
    }

    /// Makes the lists ready for use. `expand` puts variables in place (`${NAME}`), or returns what is wrong. It
    /// should know the environment as it was before settings changed it.
    #[must_use]
    pub fn policy(&self, expand: impl Fn(&str) -> Result<String, String>) -> ServerPolicy {
        self.ready(&expand).unwrap_or_else(|unreadable| ServerPolicy { closed: Some(unreadable), ..Default::default() })
    }

    fn ready(&self, expand: &dyn Fn(&str) -> Result<String, String>) -> Result<ServerPolicy, String> {
        if let Some(note) = &self.unreadable {
            return Err(note.to_string());
        }
        let ready = |pattern: &ServerPattern, key: &str, from: &str| {
            let unusable = |problem| format!("{from}: `{key}`: {problem}, so no MCP server is started");
            Ready::new(pattern, expand).map_err(unusable)
        };
        let denied = self.denied.iter().map(|(pattern, origin)| {
            Ok((ready(pattern, "deniedMcpServers", &origin.to_string())?, origin.to_string()))
        });
        let allowed = self.allowed.iter().map(|list| {
            let from = list.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            let patterns = list.patterns.iter().map(|pattern| ready(pattern, "allowedMcpServers", &from));
            Ok((patterns.collect::<Result<_, String>>()?, from.clone()))
        });
        Ok(ServerPolicy {
            denied: denied.collect::<Result<_, String>>()?,
            allowed: allowed.collect::<Result<_, String>>()?,
            closed: None,
        })
    }
}

/// Which MCP servers may be connected: what [`ServerLists`] say, ready for use. Lets all in by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerPolicy {
    denied: Vec<(Ready, String)>,
    allowed: Vec<(Vec<Ready>, String)>,
    /// Why none may.
    closed: Option<String>,
}

impl ServerPolicy {
    /// Why a server is kept out, if it is. The address is what is connected to: no variable stands in it any more.
    ///
    /// A server that is denied is out. Where there are lists of what is allowed, each must name it: by its address or
    /// command, or by its name if no entry of the list is about addresses (or commands, for a program).
    #[must_use]
    pub fn refusal(&self, name: &str, address: ServerAddress<'_>) -> Option<String> {
        if let Some(why) = &self.closed {
            return Some(why.clone());
        }
        if let Some((_, from)) = self.denied.iter().find(|(pattern, _)| pattern.denies(name, address)) {
            return Some(format!("`deniedMcpServers` of {from} keeps it out"));
        }
        let missing = self.allowed.iter().find(|(patterns, _)| !Ready::allow(patterns, name, address));
        missing.map(|(patterns, from)| {
            let empty = if patterns.is_empty() { " (it names none)" } else { "" };
            format!("`allowedMcpServers` of {from} does not name it{empty}")
        })
    }
}

#[cfg(test)]
mod tests;
