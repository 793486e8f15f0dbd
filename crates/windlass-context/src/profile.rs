//! Profiles of model families, as data: the tools and texts that they were trained on.

use crate::{ReminderStyle, ThinkingKeywords};
use std::borrow::Cow;

/// A family of models that were trained to work alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelFamily {
    /// Claude.
    Claude,
    /// Models of OpenAI.
    Gpt,
    /// Gemini.
    Gemini,
    /// Qwen.
    Qwen,
    /// DeepSeek.
    DeepSeek,
    /// Any other model, and models with an uninformative id.
    Other,
}

impl ModelFamily {
    /// Returns the family named by the id of a model, whatever provider or region precedes it. Pure: depends on the id
    /// alone.
    pub fn of(model: &str) -> Self {
        let id = model.to_ascii_lowercase();
        // A model that was distilled into another one has the names of both, and works like the one it runs on.
        let names = [
            ("claude", Self::Claude),
            ("qwen", Self::Qwen),
            ("qwq", Self::Qwen),
            ("deepseek", Self::DeepSeek),
            ("gemini", Self::Gemini),
            ("gpt-", Self::Gpt),
            ("codex", Self::Gpt),
        ];
        let named = names.into_iter().find(|(name, _)| id.contains(name)).map(|(_, family)| family);
        named.unwrap_or_else(|| {
            let last = id.rsplit(['/', ':']).next().unwrap_or_default();
            let mut letters = last.chars();
            // o1, o3-mini, o4 …
            let is_o = letters.next() == Some('o') && letters.next().is_some_and(|c| c.is_ascii_digit());
            if is_o { Self::Gpt } else { Self::Other }
        })
    }
}

/// Tools with which a model changes files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum EditTools {
    /// `Edit` and `MultiEdit`, which replace exact text.
    #[default]
    Replace,
    /// `apply_patch`, which applies a patch.
    Patch,
}

impl EditTools {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Replace, Self::Patch];

    /// Returns the names of the tools.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Replace => &["Edit", "MultiEdit"],
            Self::Patch => &["apply_patch"],
        }
    }
}

/// Settings of a session that depend on the family of models: edit tools, descriptions of tools, end of the system
/// prompt, and the meaning of thinking keywords.
///
/// ```
/// use windlass_context::{EditTools, HarnessProfile};
///
/// assert_eq!(HarnessProfile::of("openai/gpt-5").edit_tools, EditTools::Patch);
/// let mut own = HarnessProfile::of("my-model");
/// own.edit_tools = EditTools::Patch;
/// own.descriptions.push(("Read".into(), "Reads a file. Give the absolute path.".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HarnessProfile {
    /// Tools with which the model changes files.
    pub edit_tools: EditTools,
    /// Descriptions of tools in place of their own, by tool name. Unknown names have no effect.
    pub descriptions: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// Text at the end of the system prompt; empty for none. Not added to a system prompt of the host alone.
    pub hint: Cow<'static, str>,
    /// Style of the runtime's texts in the conversation, such as the directory and the date. Instructions of tool
    /// servers have tags in any style.
    pub reminders: ReminderStyle,
    /// Settings for thinking keywords, if a session [uses them](crate::ThinkingLevel).
    pub keywords: ThinkingKeywords,
}

/// The preset names Edit, which these models are not offered.
const PATCH_HINT: &str = "Change files with apply_patch, in one patch where changes belong together.";

/// These models send one call at a time unless the end of the prompt asks for several.
const PARALLEL_HINT: &str = "When several calls do not need each other's results, such as reading three files, send all of \
them in one message.";

impl HarnessProfile {
    /// Returns the profile of a model's family.
    pub fn of(model: &str) -> Self {
        Self::of_family(ModelFamily::of(model))
    }

    /// Returns the profile of a family.
    pub fn of_family(family: ModelFamily) -> Self {
        match family {
            // Trained on exact replacement, and on the content of the preset.
            ModelFamily::Claude => Self::default(),
            // Trained on patches of this format; with exact replacement they fail on blanks more often.
            ModelFamily::Gpt => {
                Self { edit_tools: EditTools::Patch, hint: Cow::Borrowed(PATCH_HINT), ..Self::default() }
            }
            // Exact replacement works, patches often have wrong marks; calls come one by one.
            ModelFamily::Gemini | ModelFamily::Qwen | ModelFamily::DeepSeek => {
                Self { hint: Cow::Borrowed(PARALLEL_HINT), ..Self::default() }
            }
            // Unknown: the variant that requires the least of a model.
            ModelFamily::Other => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_names_the_family() {
        use ModelFamily::{Claude, DeepSeek, Gemini, Gpt, Other, Qwen};
        for (id, family) in [
            ("claude-opus-5-5", Claude),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Claude),
            ("opus", Other),
            ("gpt-5.2-codex", Gpt),
            ("openai/GPT-5", Gpt),
            ("codex-mini-latest", Gpt),
            ("o3", Gpt),
            ("azure/o4-mini", Gpt),
            ("ollama/gpt-oss:20b", Gpt),
            ("gemini-3-pro", Gemini),
            ("publishers/google/models/gemini-3", Gemini),
            ("ollama/qwen3-coder:30b", Qwen),
            ("qwq-32b", Qwen),
            ("deepseek-chat", DeepSeek),
            ("deepseek-r1-distill-qwen-32b", Qwen),
            ("llama-4", Other),
            ("olmo-2", Other),
            ("kimi-k2", Other),
            ("", Other),
        ] {
            assert_eq!(ModelFamily::of(id), family, "{id}");
        }
    }

    #[test]
    fn claude_gets_what_it_always_got() {
        assert_eq!(HarnessProfile::of("claude-opus-5-5"), HarnessProfile::default());
        assert_eq!(HarnessProfile::default().hint, "");
    }
}
