//! Prompts that name a custom command or a skill.

use super::program_files::command_lines;
use super::skills::{for_users, named};
use super::{LoadedProject, ProjectError};
use std::sync::Arc;
use windlass_project::{CommandUse, Commands, CommandsStamp, Layer, load_stamped_commands};
use windlass_runtime::Prompt;
use windlass_types::{ContentBlock, PromptPart, SessionId};

impl LoadedProject {
    /// Custom slash commands and skills of the program, files and plugins. Files are read once, and again when they or
    /// the plugins have changed and a prompt names one, or the model uses a skill.
    pub fn commands(&self) -> Arc<Commands> {
        let cached = self.shared.commands.lock().clone();
        self.with_given(cached.map_or_else(|| self.reread_commands(), |(_, commands)| commands))
    }

    /// Commands and skills, read again if files have changed. Blocks for as long as the disk takes.
    pub(super) fn current_commands(&self) -> Arc<Commands> {
        let cached = self.shared.commands.lock().clone();
        let stamp = CommandsStamp::of(self.places(), &self.read.settings);
        let cached = cached.filter(|(cached_stamp, _)| *cached_stamp == stamp);
        self.with_given(cached.map_or_else(|| self.reread_commands(), |(_, commands)| commands))
    }

    fn with_given(&self, commands: Arc<Commands>) -> Arc<Commands> {
        if self.choice.skills.is_empty() {
            return commands;
        }
        Arc::new(Commands::clone(&commands).with_given(&self.choice.skills))
    }

    pub(super) fn reread_commands(&self) -> Arc<Commands> {
        let (places, request, skill_settings) = (self.places(), &self.read.settings, &self.resolved().skills);
        let (stamp, commands) = load_stamped_commands(places, request);
        let mut commands = commands.with_plugins(&self.plugins());
        // If a program reads no user settings, its sessions get no bundled skills.
        if [Layer::User, Layer::Project, Layer::Local].into_iter().any(|layer| request.sources.contains(layer)) {
            commands = commands.with_bundled(skill_settings);
        }
        if self.resolved().permissions.managed_rules_only {
            commands = commands.without_allow_rules();
        }
        if self.place_elsewhere().is_some() {
            // Skills have their files on this machine.
            commands.commands.retain(|command| command.skill.is_none());
        }
        let commands = Arc::new(commands.overridden(skill_settings));
        *self.shared.commands.lock() = Some((stamp, Arc::clone(&commands)));
        commands
    }

    /// Expands a prompt that names a custom command or skill (`/fix 12`); other prompts are returned unchanged. A
    /// [query](crate::query()) of the project does this with its prompt. A program decides about it for a session,
    /// because not every text comes from the user. `session` replaces `${CLAUDE_SESSION_ID}`.
    ///
    /// Permissions and the model of the command apply to the run of this prompt. Programs in its text (`` !`git status`
    /// ``) run when the run begins, if the session permits the calls; if one does not run, the prompt is not sent.
    ///
    /// ```no_run
    /// # async fn run(project: windlass::project::LoadedProject, mut session: windlass::session::Session) -> Result<(), Box<dyn std::error::Error>> {
    /// let prompt = project.expand("/fix 12", Some(session.handle.session_id()))?;
    /// let result = session.ask(prompt).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The prompt would be too long, the command is unusable, it runs programs that trust in the project does not
    /// cover, or such a program has changed since it was trusted.
    pub fn expand(&self, prompt: impl Into<Prompt>, session: Option<&SessionId>) -> Result<Prompt, ProjectError> {
        let prompt = prompt.into();
        let Some((name, arguments)) = named(&prompt) else { return Ok(prompt) };
        Ok(match self.called(name, arguments, session)? {
            Some(mut expanded) => {
                (expanded.id, expanded.quoted) = (prompt.id, prompt.quoted);
                expanded
            }
            None => prompt,
        })
    }

    /// Prompt of a command or skill; `None` if users cannot call one of this name. See [`expand`](Self::expand).
    ///
    /// # Errors
    /// The same as [`expand`](Self::expand).
    pub fn called(
        &self,
        name: &str,
        arguments: &str,
        session: Option<&SessionId>,
    ) -> Result<Option<Prompt>, ProjectError> {
        let commands = self.current_commands();
        commands.check(name)?;
        let Some(command) = commands.get(name) else { return Ok(None) };
        if self.place_elsewhere().is_none() && !self.resolved().skills.without_programs {
            let reviewer = self.program_reviewer();
            for line in command_lines(command) {
                reviewer.check(&line, self.places().start()).map_err(ProjectError::ChangedProgram)?;
            }
        }
        let folder = self.extracted(command);
        let mut used = self.used(arguments, session);
        used.skill_directory = folder.as_deref();
        Ok(Some(for_users(command, command.prompt(&used)?)))
    }

    /// Use of a command in this project.
    pub(super) fn used<'a>(&'a self, arguments: &'a str, session: Option<&'a SessionId>) -> CommandUse<'a> {
        let mut used = CommandUse::with(arguments);
        used.session = session.map(SessionId::as_str).unwrap_or_default();
        (used.project, used.home) = match self.place_elsewhere() {
            Some(there) => (there.directories(), there.home()),
            None => (self.places().project.as_slice(), self.places().user_home.as_deref()),
        };
        used.without_programs = self.resolved().skills.without_programs;
        used
    }

    /// Prompt of a query, after the initial prompt of the session's agent.
    pub(crate) fn prompt(
        &self,
        prompt: Prompt,
        initial: Option<&str>,
        session: Option<&SessionId>,
    ) -> Result<Prompt, ProjectError> {
        let prompt = self.expand(prompt, session)?;
        let Some(initial) = initial else { return Ok(prompt) };
        Ok(joined(self.expand(initial, session)?, prompt))
    }
}

/// Joins two prompts: one text holds both, and the words of the first are not the user's.
fn joined(mut first: Prompt, prompt: Prompt) -> Prompt {
    let is_blank = |prompt: &Prompt| {
        prompt.parts.is_empty()
            && prompt.quoted.is_empty()
            && matches!(prompt.content.as_slice(), [ContentBlock::Text { text, .. }] if text.trim().is_empty())
    };
    if is_blank(&prompt) {
        (first.id, first.ignores_keywords) = (prompt.id, true);
        return first;
    }
    let scope = if prompt.scope.is_empty() { first.scope.clone() } else { prompt.scope.clone() };
    let (mut parts, mut content) = (parts_of(first), Vec::new());
    match prompt.content.as_slice() {
        [ContentBlock::Text { .. }] | [] => {
            parts.push(PromptPart::Text("\n\n".to_owned()));
            parts.extend(parts_of(prompt.clone()));
        }
        blocks => content.extend(blocks.iter().cloned()),
    }
    let mut combined = Prompt::new(content);
    (combined.id, combined.kind, combined.ignores_keywords, combined.quoted) =
        (prompt.id, prompt.kind, true, prompt.quoted);
    put_together(combined.within(scope), parts)
}

/// Puts words in front of a prompt.
pub(super) fn behind(words: String, prompt: Prompt) -> Prompt {
    let parts = std::iter::once(PromptPart::Text(words)).chain(parts_of(prompt.clone())).collect();
    put_together(Prompt::new(Vec::new()).within(prompt.scope).ignoring_keywords(), parts)
}

/// All parts of a prompt, if it has only text blocks.
fn parts_of(prompt: Prompt) -> Vec<PromptPart> {
    let words = |block: ContentBlock| match block {
        ContentBlock::Text { text, .. } => Some(PromptPart::Text(text)),
        _ => None,
    };
    prompt.parts.into_iter().chain(prompt.content.into_iter().filter_map(words)).collect()
}

/// Prompt with these parts in front. Without calls, the text is complete now.
fn put_together(mut prompt: Prompt, parts: Vec<PromptPart>) -> Prompt {
    if parts.iter().any(|part| matches!(part, PromptPart::Call(_))) {
        return prompt.with_parts(parts);
    }
    let words = parts.iter().map(|part| match part {
        PromptPart::Text(text) => text.as_str(),
        _ => "",
    });
    prompt.content.insert(0, ContentBlock::text(words.collect::<String>()));
    prompt
}
