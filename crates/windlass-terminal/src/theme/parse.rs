//! Reading of themes.

use super::{Role, Theme};
use crate::text::{Color, Style};
use serde::Deserialize;
use std::collections::BTreeMap;
use windlass_types::near::nearest;

/// Reason why a theme cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThemeError {
    /// The text is not the JSON of a theme.
    #[error("The theme is not valid JSON: {0}")]
    Json(String),
    /// The base is not built in.
    #[error("The theme has an unknown base {name:?}. Built in are {}.", Theme::NAMES.join(", "))]
    UnknownBase {
        /// Name as it stands in the theme.
        name: String,
    },
    /// A role does not exist.
    #[error("The theme has a style for {name:?}, which does not exist.{}", did_you_mean(near.as_deref()))]
    UnknownRole {
        /// Name as it stands in the theme.
        name: String,
        /// Role with a similar name.
        near: Option<String>,
    },
    /// A word of a style is neither a colour nor an attribute.
    #[error("The style of {role:?} has the word {word:?}, which is no colour and no attribute.{}", did_you_mean(near.as_deref()))]
    UnknownWord {
        /// Role whose style it is.
        role: String,
        /// Word at fault.
        word: String,
        /// Word that is similar.
        near: Option<String>,
    },
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map(|near| format!(" Did you mean {near:?}?")).unwrap_or_default()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeFile {
    name: String,
    #[serde(default)]
    base: Option<String>,
    #[serde(default)]
    styles: BTreeMap<String, String>,
}

pub(super) fn theme(text: &str) -> Result<Theme, ThemeError> {
    let file: ThemeFile = serde_json::from_str(text).map_err(|error| ThemeError::Json(error.to_string()))?;
    let base = file.base.unwrap_or_else(|| "ansi".to_owned());
    let mut theme = Theme::named(&base).ok_or(ThemeError::UnknownBase { name: base })?;
    theme.name = file.name;
    for (name, words) in file.styles {
        let role = Role::NAMES.iter().find(|(_, known)| *known == name).map(|(role, _)| *role);
        let Some(role) = role else {
            let near = nearest(&name, Role::NAMES.map(|(_, known)| known)).first().map(|near| (*near).to_owned());
            return Err(ThemeError::UnknownRole { name, near });
        };
        let style = style(&words).map_err(|word| {
            let known = ATTRIBUTES.iter().map(|(known, _)| *known).chain(COLORS).chain(["on"]);
            let near = nearest(&word, known).first().map(|near| (*near).to_owned());
            ThemeError::UnknownWord { role: name, word, near }
        })?;
        theme.set(role, style);
    }
    Ok(theme)
}

type Attribute = fn(Style) -> Style;

const ATTRIBUTES: [(&str, Attribute); 6] = [
    ("bold", Style::bold),
    ("dim", Style::dim),
    ("italic", Style::italic),
    ("underline", Style::underline),
    ("reverse", Style::reverse),
    ("strikethrough", Style::strikethrough),
];

const COLORS: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/// The style that words name, or the word that names nothing.
pub(super) fn style(words: &str) -> Result<Style, String> {
    let mut style = Style::PLAIN;
    let mut is_background = false;
    for word in words.split_whitespace() {
        if word == "on" {
            is_background = true;
        } else if let Some((_, attribute)) = ATTRIBUTES.iter().find(|(known, _)| *known == word) {
            style = attribute(style);
        } else {
            let color = color(word).ok_or_else(|| word.to_owned())?;
            style = if is_background { style.background(color) } else { style.foreground(color) };
        }
    }
    Ok(style)
}

fn color(word: &str) -> Option<Color> {
    if let Some(digits) = word.strip_prefix('#') {
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6)?;
        let [_, red, green, blue] = number.to_be_bytes();
        return Some(Color::Rgb(red, green, blue));
    }
    if let Ok(number) = word.parse() {
        return Some(Color::Indexed(number));
    }
    if word == "default" {
        return Some(Color::Default);
    }
    let (name, bright) = word.strip_prefix("bright-").map_or((word, 0), |name| (name, 8));
    let number = COLORS.iter().position(|known| *known == name)?;
    Some(Color::Ansi(u8::try_from(number).ok()? + bright))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_of_the_built_in_themes_are_known() {
        for (name, styles) in super::super::themes::TEXTS {
            for (role, words) in styles {
                assert!(style(words).is_ok(), "{name} {role:?} {words}");
            }
            assert_eq!(Theme::named(name).unwrap().name(), name);
        }
        assert_eq!(super::super::themes::TEXTS.map(|(name, _)| name), Theme::NAMES);
        for (at, (role, _)) in Role::NAMES.iter().enumerate() {
            assert_eq!(*role as usize, at);
        }
    }

    #[test]
    fn a_theme_changes_its_base() {
        let theme = Theme::from_json(
            r##"{"name":"mine","base":"dark","styles":{"error":"bold #ff5555 on 52","added":"bright-blue"}}"##,
        );
        let theme = theme.unwrap();
        let error = Style::PLAIN.bold().foreground(Color::Rgb(255, 85, 85)).background(Color::Indexed(52));
        assert_eq!(theme.style(Role::Error), error);
        assert_eq!(theme.style(Role::Added), Style::PLAIN.foreground(Color::Ansi(12)));
        assert_eq!(theme.style(Role::Code), Theme::named("dark").unwrap().style(Role::Code));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            (
                r#"{"name":"x","styles":{"eror":"red"}}"#,
                r#"The theme has a style for "eror", which does not exist. Did you mean "error"?"#,
            ),
            (
                r#"{"name":"x","styles":{"error":"redd"}}"#,
                r#"The style of "error" has the word "redd", which is no colour and no attribute. Did you mean "red"?"#,
            ),
            (
                r#"{"name":"x","base":"drak"}"#,
                r#"The theme has an unknown base "drak". Built in are ansi, dark, light, dark-colorblind, light-colorblind, plain."#,
            ),
        ] {
            assert_eq!(Theme::from_json(text).unwrap_err().to_string(), message);
        }
        assert!(matches!(Theme::from_json("{"), Err(ThemeError::Json(_))));
    }
}
