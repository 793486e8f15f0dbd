//! Styles of what the terminal shows, as data.

mod parse;
mod themes;

pub use parse::ThemeError;

use crate::capabilities::Background;
use crate::text::Style;

/// Part of the output that has a style of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(usize)]
pub enum Role {
    /// Text of the model.
    Text,
    /// Text of less weight: details, times, sizes.
    Faint,
    /// Marks of answers and the spinner.
    Accent,
    /// Messages of the user.
    User,
    /// Headings.
    Heading,
    /// Code inside a sentence.
    Code,
    /// Blocks of code.
    CodeBlock,
    /// Comments in code.
    CodeComment,
    /// Keywords in code.
    CodeKeyword,
    /// Texts in code.
    CodeString,
    /// Numbers in code.
    CodeNumber,
    /// Links and their targets.
    Link,
    /// Quotes.
    Quote,
    /// Tool calls.
    Tool,
    /// Results that are good.
    Success,
    /// Warnings.
    Warning,
    /// Errors.
    Error,
    /// Added lines of a diff.
    Added,
    /// Removed lines of a diff.
    Removed,
    /// Changed words in added lines.
    AddedWord,
    /// Changed words in removed lines.
    RemovedWord,
    /// Lines around dialogs and tables.
    Border,
    /// The chosen row of a list.
    Selection,
}

impl Role {
    /// All roles with their names in files of themes.
    pub const NAMES: [(Self, &'static str); 23] = [
        (Self::Text, "text"),
        (Self::Faint, "faint"),
        (Self::Accent, "accent"),
        (Self::User, "user"),
        (Self::Heading, "heading"),
        (Self::Code, "code"),
        (Self::CodeBlock, "code_block"),
        (Self::CodeComment, "code_comment"),
        (Self::CodeKeyword, "code_keyword"),
        (Self::CodeString, "code_string"),
        (Self::CodeNumber, "code_number"),
        (Self::Link, "link"),
        (Self::Quote, "quote"),
        (Self::Tool, "tool"),
        (Self::Success, "success"),
        (Self::Warning, "warning"),
        (Self::Error, "error"),
        (Self::Added, "added"),
        (Self::Removed, "removed"),
        (Self::AddedWord, "added_word"),
        (Self::RemovedWord, "removed_word"),
        (Self::Border, "border"),
        (Self::Selection, "selection"),
    ];
}

/// A style for each [`Role`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: String,
    styles: [Style; Role::NAMES.len()],
}

impl Theme {
    /// Names of the themes that are built in.
    pub const NAMES: [&'static str; 6] = ["ansi", "dark", "light", "dark-colorblind", "light-colorblind", "plain"];

    /// The built-in theme of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let text = themes::TEXTS.iter().find(|(known, _)| *known == name)?.1;
        let mut theme = Self { name: name.to_owned(), styles: [Style::PLAIN; Role::NAMES.len()] };
        for (role, words) in text {
            theme.set(*role, parse::style(words).unwrap_or_default());
        }
        Some(theme)
    }

    /// The theme for a background: `dark` or `light`, and `ansi`, which fits both, when it is not known.
    #[must_use]
    pub fn for_background(background: Option<Background>) -> Self {
        let name = match background {
            None => "ansi",
            Some(Background::Dark) => "dark",
            Some(Background::Light) => "light",
        };
        Self::named(name).unwrap_or_else(Self::plain)
    }

    /// A theme from JSON: `{"name": "mine", "base": "dark", "styles": {"error": "bold #ff5555 on 52"}}`.
    ///
    /// A style is a list of words: attributes (`bold`, `dim`, `italic`, `underline`, `reverse`, `strikethrough`), a colour, and behind
    /// `on` the colour of the background. A colour is one of the names of ANSI (`red`, `bright-red`), a number to 255, or
    /// `#rrggbb`. Roles that are not named are as in the base, which is `ansi` unless it is named.
    ///
    /// # Errors
    /// A [`ThemeError`] that names the word at fault.
    pub fn from_json(text: &str) -> Result<Self, ThemeError> {
        parse::theme(text)
    }

    /// Name of the theme.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    fn plain() -> Self {
        Self { name: "plain".to_owned(), styles: [Style::PLAIN; Role::NAMES.len()] }
    }

    fn set(&mut self, role: Role, style: Style) {
        if let Some(place) = self.styles.get_mut(role as usize) {
            *place = style;
        }
    }
}

impl Default for Theme {
    /// The theme `ansi`: sixteen colours that the user's terminal names, so it fits light and dark.
    fn default() -> Self {
        Self::for_background(None)
    }
}
