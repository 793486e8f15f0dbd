//! The items that trust in a project puts into effect, gathered from its files.

use crate::agents::agent_files;
use crate::canonical::canonical;
use crate::commands::command_files;
use crate::error::SettingsError;
use crate::load::load;
use crate::places::Places;
use crate::records::read_trust;
use crate::request::SettingsRequest;
use crate::servers::entries::server_entries;
use crate::sources::SettingSources;
use crate::styles::style_files;
use crate::trust::{TrustItem, TrustKind, TrustStatus};

/// An item with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewedItem {
    /// The item.
    pub item: TrustItem,
    /// Status: new, changed or already trusted.
    pub status: TrustStatus,
}

/// Returns the items that trust in the project would put into effect in a session that starts here, each with its
/// status. No program is run and no file written.
///
/// # Errors
/// A settings file of the project cannot be used.
pub fn review_trust(places: &Places) -> Result<Vec<ReviewedItem>, SettingsError> {
    let trust = read_trust(places, &mut Vec::new());
    let standing = |item: &TrustItem| {
        let directory = places.project.iter().rev().find(|directory| item.file.starts_with(directory));
        directory.map(|directory| trust.standing(&places.project, directory, false)).unwrap_or_default()
    };
    let reviewed = |item: TrustItem| ReviewedItem { status: standing(&item).status(&item), item };
    Ok(trust_items(places)?.into_iter().map(reviewed).collect())
}

/// Returns the items that trust in the project would put into effect in a session that starts here, sorted.
pub(crate) fn trust_items(places: &Places) -> Result<Vec<TrustItem>, SettingsError> {
    let request = SettingsRequest::new().sources(SettingSources::of_project()).trust(true);
    let loaded = load(places, &request)?;
    let of_project = loaded.files.iter().filter(|file| file.layer.lies_in_project());
    let mut items: Vec<TrustItem> = of_project.flat_map(|file| file.trust_items()).collect();
    for (path, name, config) in server_entries(places) {
        items.push(TrustItem::new(&path, TrustKind::Server, name, canonical(config.as_str())));
    }
    for (path, name, text) in agent_files(places) {
        let shown = crate::agents::shown_head(&text);
        items.push(TrustItem::new(&path, TrustKind::Agent, name, text).showing(shown));
    }
    for (path, name, text) in style_files(places) {
        let shown = format!("{} characters", text.chars().count());
        items.push(TrustItem::new(&path, TrustKind::Style, name, text).showing(shown));
    }
    for command in command_files(places) {
        if let Some(content) = command.allowance() {
            let item = TrustItem::new(&command.path, TrustKind::Command, &command.name, content);
            items.push(item.showing(command.shown_allowance()));
        }
    }
    items.sort();
    Ok(items)
}

#[cfg(test)]
mod tests;
