//! The layers that settings come in.

use std::fmt;
use std::str::FromStr;
use windlass_types::RuleSource;

/// A layer of settings. Ordered: a stronger layer is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// The user's files.
    User,
    /// The files that a project shares.
    Project,
    /// The user's files for one project.
    Local,
    /// Settings from the command line or the host.
    Flags,
    /// The settings of the administrator of the machine.
    Managed,
}

impl Layer {
    /// The layers, the strongest first.
    pub const STRONGEST_FIRST: [Self; 5] = [Self::Managed, Self::Flags, Self::Local, Self::Project, Self::User];

    /// Returns the rule source under which the layer's rules are reported.
    pub fn rule_source(self) -> RuleSource {
        match self {
            Self::Managed => RuleSource::PolicySettings,
            Self::Flags => RuleSource::FlagSettings,
            Self::Local => RuleSource::LocalSettings,
            Self::Project => RuleSource::ProjectSettings,
            Self::User => RuleSource::UserSettings,
        }
    }

    /// Returns `true` if the layer's files lie in the project, where others may have put them.
    pub(crate) fn lies_in_project(self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Managed => "managed",
            Self::Flags => "flags",
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        })
    }
}

/// A layer that a program can leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SettingSource {
    /// The user's files.
    User,
    /// The files that a project shares.
    Project,
    /// The user's files for one project.
    Local,
}

/// Selection of the layers user, project and local. Managed settings and flags are always read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingSources {
    user: bool,
    project: bool,
    local: bool,
    named: bool,
}

impl Default for SettingSources {
    /// Returns all three; none was named.
    fn default() -> Self {
        Self { user: true, project: true, local: true, named: false }
    }
}

impl SettingSources {
    /// Returns no layer.
    #[must_use]
    pub fn none() -> Self {
        Self { user: false, project: false, local: false, named: true }
    }

    /// Returns the two layers that lie in a project; they were not named.
    pub(crate) fn of_project() -> Self {
        Self { user: false, project: true, local: true, named: false }
    }

    /// Returns `true` if a layer is read.
    #[must_use]
    pub fn contains(&self, layer: Layer) -> bool {
        match layer {
            Layer::User => self.user,
            Layer::Project => self.project,
            Layer::Local => self.local,
            Layer::Managed | Layer::Flags => true,
        }
    }

    /// Returns `true` if the user asked for this layer by name, which is trust in it for this run.
    #[must_use]
    pub fn names(&self, layer: Layer) -> bool {
        self.named && self.contains(layer)
    }
}

impl FromIterator<SettingSource> for SettingSources {
    /// Collects these layers, without trust in them: only a list [that is parsed](SettingSources::from_str) names
    /// layers.
    fn from_iter<I: IntoIterator<Item = SettingSource>>(sources: I) -> Self {
        let mut set = Self { named: false, ..Self::none() };
        for source in sources {
            match source {
                SettingSource::User => set.user = true,
                SettingSource::Project => set.project = true,
                SettingSource::Local => set.local = true,
            }
        }
        set
    }
}

impl<const N: usize> From<[SettingSource; N]> for SettingSources {
    fn from(sources: [SettingSource; N]) -> Self {
        sources.into_iter().collect()
    }
}

impl FromStr for SettingSources {
    type Err = String;

    /// Returns the value of `--setting-sources`: names separated by commas; the empty text is none of them.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut sources = Self::none();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "user" => sources.user = true,
                "project" => sources.project = true,
                "local" => sources.local = true,
                other => {
                    return Err(format!("there are no settings {other:?}: name some of user, project and local"));
                }
            }
        }
        Ok(sources)
    }
}
