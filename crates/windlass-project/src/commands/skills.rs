//! Skills: folders with a `SKILL.md`, which the model uses when its description fits.

use super::bundled::SKILL_FILE;
use super::definition::{Command, CommandSource, MOST_DESCRIPTION, SkillDetails};
use crate::front_matter::{self, FrontMatter};
use crate::markdown::{is_name, one_line};
use crate::places::{FOLDERS, Places};
use globset::{Glob, GlobSetBuilder};
use std::collections::BTreeSet;
use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};

/// Name of the folders that contain skills.
const SKILLS: &str = "skills";
/// Folder that agents of several vendors read.
const SHARED: &str = ".agents";
/// Maximum number of names in one folder of skills.
const MAX_NAMES: usize = 1_024;

/// The folder of a skill.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) directory: PathBuf,
    /// Metadata of the skill file, if a search has read it.
    pub(crate) file: Option<Metadata>,
}

/// Returns the folders of skills of the user or the project, the strongest first. Each is listed once, whatever links
/// lead to it.
pub(super) fn find(places: &Places, source: CommandSource) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let folders = match source {
        CommandSource::Project => of_project(places),
        CommandSource::Managed => managed(places, SKILLS).into_iter().map(|folder| (folder, None)).collect(),
        _ => of_user(places),
    };
    let found = folders.into_iter().flat_map(|(folder, within)| in_folder(&folder, within.as_deref()));
    found.filter(|found| seen.insert(found.directory.clone())).collect()
}

/// Returns the administrator's folders of this name, the strongest first: beside the managed settings, and in `.claude`
/// there.
pub(super) fn managed(places: &Places, name: &str) -> Vec<PathBuf> {
    let parents = places.managed.iter().filter_map(|file| file.parent());
    parents.flat_map(|directory| [directory.join(name), directory.join(".claude").join(name)]).collect()
}

fn of_user(places: &Places) -> Vec<(PathBuf, Option<PathBuf>)> {
    let shared = places.user_home.iter().map(|home| home.join(SHARED).join(SKILLS));
    places.user.iter().map(|directory| directory.join(SKILLS)).chain(shared).map(|folder| (folder, None)).collect()
}

/// Returns the project's folders of skills, the nearest to the start first.
fn of_project(places: &Places) -> Vec<(PathBuf, Option<PathBuf>)> {
    let user_folders = of_user(places);
    let skill_folders = |directory: &PathBuf| {
        let inner = FOLDERS.into_iter().chain([SHARED]);
        inner.map(|inner| (directory.join(inner).join(SKILLS), Some(directory.clone()))).collect::<Vec<_>>()
    };
    let project_folders = places.project.iter().rev().flat_map(skill_folders);
    project_folders.filter(|(folder, _)| !user_folders.iter().any(|(other, _)| other == folder)).collect()
}

/// Returns the skills of one folder, sorted by name. With `within`, skills outside of that directory are left out.
pub(crate) fn in_folder(folder: &Path, within: Option<&Path>) -> Vec<Found> {
    // Most folders do not exist. Reading first avoids resolving their paths, which costs a system call for each part.
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    // Only links are resolved: resolving costs a system call for each part of the path.
    let resolved = |entry: &DirEntry, name: &str| match entry.file_type() {
        Ok(kind) if kind.is_dir() => Some(folder.join(name)),
        _ => entry.path().canonicalize().ok(),
    };
    let found = entries.take(MAX_NAMES).flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.') && is_name(name))?;
        let directory = resolved(&entry, &name)?;
        let lies_in_project = within.is_none_or(|within| directory.starts_with(within));
        let file = lies_in_project.then(|| directory.join(SKILL_FILE).metadata().ok()).flatten();
        let file = file.filter(Metadata::is_file)?;
        Some(Found { name, directory, file: Some(file) })
    });
    let mut found: Vec<Found> = found.collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

impl Command {
    /// Returns a skill from the text of its file.
    pub(crate) fn skill(found: &Found, source: CommandSource, text: &str) -> Self {
        let parts = front_matter::split(text);
        let mut command = Self::of(found.name.clone(), source, found.directory.join(SKILL_FILE), &parts);
        command.scope.place_skill(&found.directory);
        let details = SkillDetails::of(&parts.0);
        command
            .with_details(details.map(|details| SkillDetails { directory: Some(found.directory.clone()), ..details }))
    }

    pub(super) fn is_for_users(&self) -> bool {
        self.skill.as_ref().is_none_or(|skill| skill.for_users)
    }

    /// Returns the line of the skill list: the description and the occasions of use.
    #[must_use]
    pub fn listing(&self) -> String {
        let when_to_use = self.skill.as_ref().map(|skill| skill.when_to_use.as_str()).unwrap_or_default();
        if self.skill.as_ref().is_some_and(|skill| skill.name_only) {
            return String::new();
        }
        let text = if when_to_use.is_empty() {
            self.description.clone()
        } else {
            format!("{} {when_to_use}", self.description)
        };
        one_line(&text, MOST_DESCRIPTION)
    }
}

impl SkillDetails {
    /// Returns `true` if the use of one of these files makes the skill listed. Patterns begin in one of the anchors.
    pub(super) fn concerns(&self, paths: &[PathBuf], anchors: &[PathBuf]) -> bool {
        let globs = self.paths.iter().filter_map(|pattern| Glob::new(pattern).ok());
        let globs = globs.fold(GlobSetBuilder::new(), |mut all, glob| {
            all.add(glob);
            all
        });
        let Ok(globs) = globs.build() else { return false };
        let is_match = |path: &PathBuf| {
            anchors.iter().filter_map(|anchor| path.strip_prefix(anchor).ok()).any(|path| globs.is_match(path))
        };
        self.listed && paths.iter().any(is_match)
    }

    /// Reads the details from front matter.
    ///
    /// # Errors
    /// A value that is no truth value or no list.
    pub(super) fn of(head: &FrontMatter) -> Result<Self, String> {
        Ok(Self {
            directory: None,
            when_to_use: head.text("when_to_use").map(|text| one_line(&text, MOST_DESCRIPTION)).unwrap_or_default(),
            for_models: head.flag("disable-model-invocation")? != Some(true),
            for_users: head.flag("user-invocable")? != Some(false),
            listed: true,
            name_only: false,
            paths: head.list("paths")?,
            bundled: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::places::Places;
    use crate::request::SettingsRequest;
    use crate::{CommandSource, SettingSource, load_commands};
    use std::fs;
    use std::path::Path;
    use tempfile::TempDir;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn world() -> (TempDir, Places) {
        let directory = TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("w/.git")).unwrap();
        let mut places = Places::new(root.join("w"));
        places.user_home = Some(root.join("h"));
        places.user = vec![root.join("h/.windlass"), root.join("h/.claude")];
        (directory, places)
    }

    #[test]
    fn skills_of_every_layout_are_found_once() {
        let (directory, places) = world();
        let root = directory.path().canonicalize().unwrap();
        let text = "---\ndescription: Does it.\nwhen_to_use: Always.\n---\nDo $ARGUMENTS in ${CLAUDE_SKILL_DIR}.";
        for path in
            ["h/.claude/skills/own", "h/.agents/skills/shared", "w/.claude/skills/both", "w/.windlass/skills/both"]
        {
            write(&root, &format!("{path}/SKILL.md"), text);
        }
        write(&root, "w/.agents/skills/hidden/SKILL.md", "---\nuser-invocable: false\n---\nFor the model.");
        write(&root, "w/.agents/skills/manual/SKILL.md", "---\ndisable-model-invocation: true\n---\nFor people.");
        write(&root, "w/.claude/commands/both.md", "A command of that name.");
        write(&root, "w/.claude/skills/empty/other.md", "No skill.");
        write(&root, "outside/SKILL.md", "Not of the project.");
        fs::create_dir_all(root.join("h/.windlass")).unwrap();
        std::os::unix::fs::symlink(root.join("outside"), root.join("w/.claude/skills/outside")).unwrap();
        std::os::unix::fs::symlink(root.join("h/.claude/skills"), root.join("h/.windlass/skills")).unwrap();
        std::os::unix::fs::symlink(root.join("outside"), root.join("h/.claude/skills/linked")).unwrap();
        let commands = load_commands(&places, &SettingsRequest::new());
        assert_eq!(commands.notes.len(), 2, "{:?}", commands.notes);
        let names: Vec<&str> = commands.commands.iter().map(|command| command.name.as_str()).collect();
        assert_eq!(names, ["both", "hidden", "linked", "manual", "own", "shared"]);
        let both = commands.get("both").unwrap();
        assert_eq!((both.source, both.listing()), (CommandSource::Project, "Does it. Always.".to_owned()));
        assert!(both.path.ends_with("w/.windlass/skills/both/SKILL.md"), "{both:?}");
        let expanded = both.expand(&crate::CommandUse::with("it")).unwrap();
        assert_eq!(expanded, format!("Do it in {}.", root.join("w/.windlass/skills/both").display()));
        assert!(commands.get("hidden").is_none() && commands.get("manual").is_some());
        let for_models: Vec<&str> = commands.for_models().map(|command| command.name.as_str()).collect();
        assert_eq!(for_models, ["both", "hidden", "linked", "own", "shared"]);
        let of_user = load_commands(&places, &SettingsRequest::new().sources([SettingSource::User].into()));
        assert_eq!(of_user.commands.len(), 3);
    }
}
