//! Profile of a model's family, applied to a session.

use crate::toolkit::Toolkit;
use std::borrow::Cow;
use std::sync::Arc;
use windlass_context::{EditTools, HarnessProfile, ModelFamily, SystemPrompt};
use windlass_runtime::{Alternative, ModelProfile, RequestSettings};
use windlass_tool::{Annotations, DynTool, PreparedCall, ToolError, ToolSet};
use windlass_types::{JsonText, SectionScope, SystemSection, ToolSpec};

/// Profile of a session.
#[derive(Clone)]
pub(crate) struct Profile {
    profile: HarnessProfile,
    is_given: bool,
    /// `true` if the vendor of the model searches the web.
    searches: bool,
}

impl Profile {
    /// Uses the program's profile, else that of the model's family.
    pub(crate) fn new(given: Option<&HarnessProfile>, model: &ModelProfile) -> Self {
        let profile = given.cloned().unwrap_or_else(|| HarnessProfile::of(&model.id));
        Self { profile, is_given: given.is_some(), searches: model.info.web_search.is_some() }
    }

    /// `true` if the model meets the needs of a tool.
    pub(crate) fn suits(&self, tool: &Arc<dyn DynTool>) -> bool {
        self.searches || !tool.annotations().needs_web_search
    }

    /// Tools of a kit, as the profile describes them. A kit with other editing tools also gets the patch tool.
    pub(crate) fn tools(&self, kit: &Toolkit) -> Vec<Arc<dyn DynTool>> {
        let edits = EditTools::Replace.names();
        let is_edit = |tool: &Arc<dyn DynTool>| edits.contains(&&*tool.name());
        let takes_patches = !self.is_given || self.profile.edit_tools == EditTools::Patch;
        let patch = kit.patch.as_ref().filter(|_| takes_patches && kit.tools.iter().any(is_edit));
        let is_left_out = |tool: &Arc<dyn DynTool>| {
            let replaces = self.is_given && self.profile.edit_tools == EditTools::Patch && patch.is_some();
            replaces && is_edit(tool)
        };
        let has_own = patch.is_some_and(|patch| kit.tools.iter().any(|tool| tool.name() == patch.name()));
        let patch = patch.filter(|_| !has_own);
        let shown_tools = kit.tools.iter().filter(|tool| !is_left_out(tool)).chain(patch);
        shown_tools.map(|tool| self.described(tool)).collect()
    }

    fn described(&self, tool: &Arc<dyn DynTool>) -> Arc<dyn DynTool> {
        let name = tool.name().into_owned();
        match self.profile.descriptions.iter().find(|(of, _)| *of == name) {
            Some((_, text)) => Arc::new(Described { tool: Arc::clone(tool), text: text.clone().into_owned() }),
            None => Arc::clone(tool),
        }
    }

    /// Tools by the model families that they suit, if several families may be called.
    pub(crate) fn alternatives(&self, tools: &ToolSet) -> Vec<Alternative> {
        const FAMILIES: [ModelFamily; 6] = [
            ModelFamily::Claude,
            ModelFamily::Gpt,
            ModelFamily::Gemini,
            ModelFamily::Qwen,
            ModelFamily::DeepSeek,
            ModelFamily::Other,
        ];
        let alternative = |edits: EditTools| {
            let families = FAMILIES.into_iter().filter(|family| HarnessProfile::of_family(*family).edit_tools == edits);
            Alternative::new(families.collect(), edits.names().iter().map(|name| (*name).to_owned()).collect())
        };
        let choices = EditTools::ALL.map(alternative);
        let is_there = |one: &Alternative| one.tools.iter().any(|name| tools.get(name).is_some());
        if self.is_given || !choices.iter().all(is_there) { Vec::new() } else { choices.into() }
    }

    /// Adds the profile to requests: its hint after windlass's own part of the system prompt, and the meaning of
    /// thinking keywords, if enabled.
    pub(crate) fn configure(&self, prompt: &SystemPrompt, request: &mut RequestSettings) {
        if !matches!(prompt, SystemPrompt::Custom(_)) && !self.profile.hint.is_empty() {
            let shared = request.system.iter().take_while(|section| section.scope == SectionScope::Global).count();
            request.system.insert(shared, SystemSection::new(self.profile.hint.clone(), SectionScope::Global));
        }
        request.reminders = self.profile.reminders;
        if let Some(keywords) = &mut request.thinking_keywords {
            keywords.clone_from(&self.profile.keywords);
        }
    }
}

/// A tool with another description.
struct Described {
    tool: Arc<dyn DynTool>,
    text: String,
}

impl DynTool for Described {
    fn spec(&self) -> ToolSpec {
        let mut spec = self.tool.spec();
        spec.description.clone_from(&self.text);
        spec
    }

    fn name(&self) -> Cow<'_, str> {
        self.tool.name()
    }

    fn annotations(&self) -> Annotations {
        self.tool.annotations()
    }

    fn is_enabled(&self) -> bool {
        self.tool.is_enabled()
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Arc::clone(&self.tool).prepare(input)
    }
}
