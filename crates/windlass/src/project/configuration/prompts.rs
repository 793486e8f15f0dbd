//! The system prompt of a session: of its agent, with an output style, a language, and attribution in commits.

use super::state::Configuration;
use crate::model::Prompts;
use crate::project::{ProjectError, ProjectNoticeKind};
use windlass_context::SystemPrompt;
use windlass_project::{Attribution, OutputStyle, load_output_styles};

/// Applies the prompts of the main agent, and appends the style instructions of settings to the system prompt, even if
/// the program wants none. A program with its own prompt decides that itself; an agent with its own prompt has no
/// output style.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { options, agent, .. } = configuration;
    let system_prompt = agent.system_prompt(options.prompts.system.clone());
    let is_agent = agent.definition().is_some() && system_prompt != options.prompts.system;
    options.prompts.system = system_prompt;
    if options.start.begins_new() {
        options.project.initial = agent.initial_prompt().map(str::to_owned);
    }
    let is_of_program = matches!(&options.prompts.system, Some(SystemPrompt::Custom(text)) if !text.is_empty());
    if !is_agent && is_of_program {
        return Ok(());
    }
    if !is_agent {
        apply_style(configuration);
    }
    let (settings, prompts) = (&configuration.project.resolved().session, &mut configuration.options.prompts);
    if let Some(language) = settings.language.as_ref().filter(|language| !language.value.trim().is_empty()) {
        prompts.append(&format!("Answer in this language, whatever language files are in: {}", language.value.trim()));
    }
    if let Some(text) = settings.attribution.as_ref().and_then(|said| Attribution::instruction(&said.value)) {
        prompts.append(&text);
    }
    Ok(())
}

/// Applies the output style that settings choose. A notice names a missing one.
fn apply_style(configuration: &mut Configuration<'_>) {
    let Configuration { project, options, .. } = configuration;
    let style = project.resolved().session.output_style.as_ref();
    let Some(setting) = style.filter(|style| style.value != "default") else { return };
    let styles = load_output_styles(project.places(), &project.read.settings);
    for note in &styles.notes {
        project.note(ProjectNoticeKind::Setting, note.to_string());
    }
    if let Some(style) = styles.get(&setting.value) {
        options.project.style = Some(style.name.clone());
        return options.prompts.use_style(style);
    }
    let known: Vec<&str> = styles.styles.iter().map(|style| style.name.as_str()).collect();
    let (origin, name) = (&setting.origin, &setting.value);
    let text = format!("{origin}: there is no output style {name:?}: there are default, {}", known.join(", "));
    project.note(ProjectNoticeKind::Setting, text);
}

impl Prompts {
    /// Applies an output style. It replaces the preset's advice on coding, unless it keeps that, and is the whole
    /// system prompt if the program wants none.
    fn use_style(&mut self, style: &OutputStyle) {
        if style.keeps_coding_prompt || matches!(self.system, Some(SystemPrompt::Custom(_))) {
            return self.append(&style.prompt);
        }
        let styled = SystemPrompt::styled(&style.prompt);
        self.system = Some(match self.system.take() {
            Some(SystemPrompt::PresetAnd(text)) => styled.append(&text),
            _ => styled,
        });
    }
}
