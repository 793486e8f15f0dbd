//! Output styles: the way in which a session writes.

use crate::front_matter;
use crate::markdown::{Folder, Walk, of_project, of_user, one_line};
use crate::note::{Note, Notes};
use crate::places::Places;
use crate::records::read_trust;
use crate::request::SettingsRequest;
use crate::sources::Layer;
use crate::trust::{Standing, TrustKind};
use std::path::PathBuf;

/// Name of the folders that contain output styles.
const FOLDER: &str = "output-styles";
/// Maximum number of styles.
const MAX_STYLES: usize = 100;
/// Maximum number of characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 500;
/// Maximum number of characters of a name.
const MAX_NAME_CHARS: usize = 100;

const EXPLANATORY: &str = "\
Besides doing the work, explain it. When you choose between several ways, say in two or three sentences which ones there were and \
why this one fits the code at hand. Point out what is typical of this repository: its conventions, and why its parts are \
cut as they are. Put such remarks before or after the work, each under a line `Insight:`, never into the code or its comments.";

const LEARNING: &str = "\
The user wants to learn by writing code. Do the work together: prepare everything around, and leave the user one piece at a time \
of two to ten lines that needs a decision, such as a rule of the business, an error to handle, or a data structure. Mark its \
place with a line `TODO(human)`, say in a few sentences what it must do and what speaks for which choice, and stop there. Once the \
user has written it, read it, say what is good and what would break, and continue. What is mere routine you write yourself.";

/// An output style.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputStyle {
    /// Name of the style.
    pub name: String,
    /// Purpose in one line.
    pub description: String,
    /// Text in the model's system prompt.
    pub prompt: String,
    /// `true` if windlass's own prompt for coding agents stays in front of the style's. Default: `false`.
    pub keeps_coding_prompt: bool,
    /// File of the style; `None` for one bundled with windlass.
    pub path: Option<PathBuf>,
}

/// The output styles of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OutputStyles {
    /// Styles in use, one of each name, sorted by name.
    pub styles: Vec<OutputStyle>,
    /// Notes on styles that are unusable or ignored.
    pub notes: Vec<Note>,
}

impl OutputStyles {
    /// Returns the style of this name, without regard to case. The default style is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OutputStyle> {
        let exact = self.styles.iter().find(|style| style.name == name);
        exact.or_else(|| self.styles.iter().find(|style| style.name.eq_ignore_ascii_case(name)))
    }
}

/// Reads the output styles in files: those of the project take precedence over those of the user, and both over those
/// bundled with windlass. Styles of a project need trust. No program is run.
#[must_use]
pub fn load_output_styles(places: &Places, request: &SettingsRequest) -> OutputStyles {
    let (mut all, mut notes, mut walk, mut trust) = (Vec::new(), Notes::default(), Walk::new(false), None);
    let project = of_project(places, FOLDER).into_iter().map(|folder| (Layer::Project, folder));
    let user = of_user(places, FOLDER).into_iter().map(|folder| (Layer::User, folder));
    let managed = managed(places).map(|folder| (Layer::Managed, folder));
    for (layer, folder) in managed.chain(project).chain(user) {
        if !request.sources.contains(layer) {
            continue;
        }
        let files = walk.files(&folder, &mut notes);
        let standing = match &folder.within {
            Some(directory) if !files.is_empty() => trust
                .get_or_insert_with(|| read_trust(places, &mut notes.0).for_this_run(request.trust))
                .standing(&places.project, directory, request.sources.names(layer)),
            _ => Standing::trusted(),
        };
        for file in files {
            let Some(text) = notes.read(&file.path) else { continue };
            let path = file.path.clone();
            let (style, head) = parse(&file.name, &text, file.path);
            head.notices.iter().for_each(|notice| notes.add(&path, notice.clone()));
            if let Some(problem) = head.problem {
                notes.add(&path, format!("the output style {:?} cannot be used: {problem}", style.name));
            } else if !standing.covers(&path, TrustKind::Style, &style.name, &text) {
                notes.add(&path, format!("the output style does not count {}", standing.condition()));
            } else if !all.iter().any(|known: &OutputStyle| known.name == style.name) && all.len() < MAX_STYLES {
                all.push(style);
            }
        }
    }
    for style in built_in() {
        if !all.iter().any(|known| known.name == style.name) {
            all.push(style);
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    OutputStyles { styles: all, notes: notes.0 }
}

/// Returns the folders beside the files of the administrator.
fn managed(places: &Places) -> impl Iterator<Item = Folder> {
    let parents = places.managed.iter().filter_map(|file| file.parent());
    parents.map(|directory| Folder { path: directory.join(FOLDER), within: None })
}

/// Returns the style files of the project, each with its name and text, including those not in use.
pub(crate) fn style_files(places: &Places) -> Vec<(PathBuf, String, String)> {
    let (mut walk, mut notes, mut found) = (Walk::new(false), Notes::default(), Vec::new());
    for folder in of_project(places, FOLDER) {
        for file in walk.files(&folder, &mut notes) {
            let Some(text) = notes.read(&file.path) else { continue };
            let name = parse(&file.name, &text, file.path.clone()).0.name;
            found.push((file.path, name, text));
        }
    }
    found
}

/// Problem and notices of the head of a style.
struct StyleHead {
    problem: Option<String>,
    notices: Vec<String>,
}

fn parse(file: &str, text: &str, path: PathBuf) -> (OutputStyle, StyleHead) {
    let (head, body) = front_matter::split(text);
    let keeps = head.flag("keep-coding-instructions");
    let problem = head.problem().map(str::to_owned).or(keeps.clone().err());
    let style = OutputStyle {
        name: one_line(&head.text("name").unwrap_or_else(|| file.to_owned()), MAX_NAME_CHARS),
        description: one_line(&head.text("description").unwrap_or_default(), MAX_DESCRIPTION_CHARS),
        prompt: body.trim().to_owned(),
        keeps_coding_prompt: keeps == Ok(Some(true)),
        path: Some(path),
    };
    (style, StyleHead { problem, notices: head.notices().to_vec() })
}

fn built_in() -> impl Iterator<Item = OutputStyle> {
    let styles = [
        ("Explanatory", "Explains its choices and the repository while it works", EXPLANATORY),
        ("Learning", "Leaves small pieces of code to the user, and reads what comes of them", LEARNING),
    ];
    styles.into_iter().map(|(name, description, prompt)| OutputStyle {
        name: name.to_owned(),
        description: description.to_owned(),
        prompt: prompt.to_owned(),
        keeps_coding_prompt: true,
        path: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_in_order_and_those_of_a_project_with_trust() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        for (file, text) in [
            ("work/.claude/output-styles/short.md", "---\nname: Short\nkeep-coding-instructions: true\n---\nBe short."),
            ("home/output-styles/short.md", "---\nname: Short\n---\nBe shorter."),
            ("home/output-styles/learning.md", "---\nname: Learning\ndescription: Mine\n---\nTeach."),
            ("home/output-styles/plain.md", "Only text."),
        ] {
            std::fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
            std::fs::write(path.join(file), text).unwrap();
        }
        let mut places = Places::new(path.join("work"));
        places.user = vec![path.join("home")];
        let styles = load_output_styles(&places, &SettingsRequest::new());
        assert_eq!(styles.get("short").unwrap().prompt, "Be shorter.");
        assert!(styles.notes[0].to_string().contains("without trust"), "{:?}", styles.notes);
        assert_eq!(styles.get("Learning").unwrap().prompt, "Teach.");
        assert_eq!(styles.get("plain").unwrap().prompt, "Only text.");
        assert!(styles.get("explanatory").unwrap().path.is_none() && styles.get("default").is_none());
        let styles = load_output_styles(&places, &SettingsRequest::new().trust(true));
        let short = styles.get("Short").unwrap();
        assert!(short.prompt == "Be short." && short.keeps_coding_prompt, "{short:?}");
        assert_eq!(style_files(&places).len(), 1);
    }
}
