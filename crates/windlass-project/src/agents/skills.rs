//! Skills whose texts are appended to the prompts of agents.

use super::collection::Agents;
use crate::commands::{Command, CommandUse, Commands};
use crate::note::Notes;
use std::path::Path;
use std::sync::Arc;
use windlass_types::names;

/// Maximum number of skills of an agent.
const MAX_SKILLS: usize = 32;
/// Maximum size of the texts of these skills together, in bytes.
const MAX_SKILL_BYTES: usize = 256 * 1024;

impl Agents {
    /// Appends the texts of the named skills to the agents' prompts. A skill that is missing, or that is not for
    /// models, is left out with a note. `commands` is called only if an agent names one.
    #[must_use]
    pub fn with_skills(mut self, commands: impl FnOnce() -> Arc<Commands>) -> Self {
        if self.agents.iter().all(|agent| agent.definition.skills.is_empty()) {
            return self;
        }
        let (commands, mut notes) = (commands(), Notes::default());
        for agent in &mut self.agents {
            let path = agent.path.clone().unwrap_or_default();
            let mut note = |text: String| notes.add(&path, format!("the agent {:?}: {text}", agent.definition.name));
            let mut remaining_bytes = MAX_SKILL_BYTES;
            for name in agent.definition.skills.iter().take(MAX_SKILLS) {
                let found = commands.for_models().find(|skill| skill.name == names::skill(name));
                match found.map(skill_text) {
                    Some(Ok(text)) if text.len() <= remaining_bytes => {
                        remaining_bytes = remaining_bytes.saturating_sub(text.len());
                        agent.definition.prompt.push_str(&text);
                    }
                    Some(Ok(_)) => note(format!("the skill {name:?} is left out: it is too long")),
                    Some(Err(problem)) => note(format!("the skill {name:?} is left out: {problem}")),
                    None => note(format!("there is no skill {name:?}")),
                }
            }
        }
        self.notes.extend(notes.0);
        self
    }
}

/// Returns the text of a skill as it is appended to a prompt.
fn skill_text(skill: &Command) -> Result<String, String> {
    let body = skill.expand(&CommandUse::default()).map_err(|error| error.to_string())?;
    let directory = skill.directory().unwrap_or(Path::new("none"));
    Ok(format!("\n\n# Skill {}\n\nIts directory: {}\n\n{}", skill.name, directory.display(), body.trim()))
}
