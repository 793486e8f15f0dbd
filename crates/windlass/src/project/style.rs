//! Writing style of a session: output style, language, and attribution in commits.

use super::{LoadedProject, ProjectNoticeKind};
use crate::model::Prompts;
use crate::options::Options;
use windlass_context::SystemPrompt;
use windlass_project::{Attribution, OutputStyle, load_output_styles};

impl Prompts {
    /// Applies an output style. It replaces the preset's advice on coding, unless it keeps that, and is the whole
    /// system prompt if the program wants none.
    fn use_style(&mut self, style: &OutputStyle) {
        self.style = Some(style.name.clone());
        if style.keeps_coding_prompt || matches!(self.system, Some(SystemPrompt::Custom(_))) {
            return self.append(&style.prompt);
        }
        let own = SystemPrompt::styled(&style.prompt);
        self.system = Some(match self.system.take() {
            Some(SystemPrompt::PresetAnd(text)) => own.append(&text),
            _ => own,
        });
    }
}

impl LoadedProject {
    /// Names of the output styles that `outputStyle` can choose: `default`, those of files, and the bundled ones.
    /// Blocks for as long as the disk takes.
    pub fn output_styles(&self) -> Vec<String> {
        let styles = load_output_styles(self.places(), &self.read.settings).styles;
        std::iter::once("default".to_owned()).chain(styles.into_iter().map(|style| style.name)).collect()
    }

    /// Appends the style instructions of settings to the system prompt, even if the program wants none. A program with
    /// its own prompt decides that itself; an agent with its own prompt has no output style.
    pub(super) fn apply_style(&self, options: &mut Options, is_agent: bool) {
        let prompts = &mut options.prompts;
        if !is_agent && matches!(&prompts.system, Some(SystemPrompt::Custom(text)) if !text.is_empty()) {
            return;
        }
        let said = &self.resolved().session;
        let style = said.output_style.as_ref().filter(|style| !is_agent && style.value != "default");
        if let Some(setting) = style {
            let styles = load_output_styles(self.places(), &self.read.settings);
            for note in &styles.notes {
                self.note(ProjectNoticeKind::Setting, note.to_string());
            }
            match styles.get(&setting.value) {
                Some(style) => prompts.use_style(style),
                None => {
                    let known: Vec<&str> = styles.styles.iter().map(|style| style.name.as_str()).collect();
                    let (origin, name) = (&setting.origin, &setting.value);
                    let text =
                        format!("{origin}: there is no output style {name:?}: there are default, {}", known.join(", "));
                    self.note(ProjectNoticeKind::Setting, text);
                }
            }
        }
        if let Some(language) = said.language.as_ref().filter(|language| !language.value.trim().is_empty()) {
            prompts
                .append(&format!("Answer in this language, whatever language files are in: {}", language.value.trim()));
        }
        if let Some(text) = said.attribution.as_ref().and_then(|said| Attribution::instruction(&said.value)) {
            prompts.append(&text);
        }
    }
}
