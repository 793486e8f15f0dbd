//! Allow and deny lists of MCP servers in settings files, for servers of every scope.

use super::pattern::ServerPattern;
use crate::canonical::content_of;
use crate::note::{Note, Origin};
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::TrustKind;
use std::collections::BTreeSet;

/// `deniedMcpServers` and `allowedMcpServers` of all settings files.
///
/// Denials of a file always apply. Allow lists join, as far as their files have full standing; one of a project's
/// shared file, or of a project that is not trusted, can only narrow. With `allowManagedMcpServersOnly` of a managed
/// file only managed lists can allow servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLists {
    /// Servers that are kept out.
    pub denied: Vec<(ServerPattern, Origin)>,
    /// Lists of servers that may be connected. A server must be in each of them.
    pub allowed: Vec<AllowedServers>,
    /// The file that wants only managed lists to allow servers.
    pub managed_only: Option<Origin>,
    /// Note on an unreadable list, which keeps all servers out.
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
        let is_managed = |file: &&SettingsFile| file.layer == Layer::Managed;
        let is_managed_only = |file: &&SettingsFile| file.settings.servers.lists.managed_only;
        lists.managed_only = files.iter().filter(is_managed).find(is_managed_only).map(|file| file.origin.clone());
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
        let server_lists = &file.settings.servers.lists;
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
}
