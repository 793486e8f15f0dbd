//! Options of a session's skills and memory.

use crate::memory::Memory;
use crate::options::{ContextOptions, OptionChange};
use windlass_project::Skill;

impl ContextOptions {
    /// Gives the session a skill: instructions that the model reads on demand, through the tool `Skill`. In a
    /// [query](crate::query()), the prompt `/name` invokes the skill. It precedes skills of the same name from files,
    /// except the administrator's. May be called several times.
    ///
    /// ```
    /// use windlass::{Skill, session};
    ///
    /// let notes = Skill::new("release-notes", "Writes release notes.", "List the commits since $ARGUMENTS.");
    /// let session = session().context(notes);
    /// ```
    pub fn skill(mut self, skill: Skill) -> Self {
        self.changes.push(OptionChange::new(move |options| options.project.skills.push(skill.clone())));
        self
    }

    /// Gives the session a memory of small notes, shared with later sessions. The model reads the index after the first
    /// prompt and has the tool `Memory`. See [`Memory`](crate::memory::Memory). Default: no memory.
    pub fn memory(mut self, memory: Memory) -> Self {
        self.changes.push(OptionChange::new(move |options| options.remember(memory.clone())));
        self
    }
}

impl From<Skill> for ContextOptions {
    fn from(skill: Skill) -> Self {
        Self::new().skill(skill)
    }
}

impl From<Memory> for ContextOptions {
    fn from(memory: Memory) -> Self {
        Self::new().memory(memory)
    }
}
