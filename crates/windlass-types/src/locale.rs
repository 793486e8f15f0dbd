//! Locale names, as far as their character set is known.
//!
//! Command lines are analysed as UTF-8. A shell in another multi-byte character set reads quotes and operators elsewhere:
//! in GBK the last byte of `中` and a backslash behind it are one character.

/// Character set of a locale, according to the locale's name alone.
///
/// ```
/// use windlass_types::locale::{CharacterSet, character_set};
///
/// assert_eq!(character_set("de_DE.UTF-8@euro"), CharacterSet::Utf8);
/// assert_eq!(character_set("POSIX"), CharacterSet::SingleBytes);
/// assert_eq!(character_set("zh_CN"), CharacterSet::Unknown);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every caller has to decide about each of them")]
pub enum CharacterSet {
    /// UTF-8.
    Utf8,
    /// Single bytes, of which those of ASCII alone are blanks, quotes or operators: the locales `C` and `POSIX`.
    SingleBytes,
    /// Any other, or one that the name leaves to the system: `zh_CN.GBK`, `zh_CN`, and the empty name.
    Unknown,
}

/// Variables that choose a character set, the strongest first: a set and non-empty one hides those behind it.
pub const VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Character set of the locale with this name.
///
/// A system without the locale stays in `C`, so the actual set is never harder to read than the answer says.
#[must_use]
pub fn character_set(name: &str) -> CharacterSet {
    match name {
        "C" | "POSIX" => return CharacterSet::SingleBytes,
        "UTF-8" => return CharacterSet::Utf8,
        _ => {}
    }
    let codeset = name.split_once('.').map_or("", |(_, rest)| rest.split('@').next().unwrap_or_default());
    let codeset: String = codeset.chars().filter(|c| *c != '-').collect();
    if codeset.eq_ignore_ascii_case("utf8") { CharacterSet::Utf8 } else { CharacterSet::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_locale_tells_utf_8_and_single_bytes_from_all_others() {
        for name in ["C.UTF-8", "C.utf8", "en_US.UTF-8", "de_DE.utf-8@euro", "UTF-8", "zh_CN.UTF-8"] {
            assert_eq!(character_set(name), CharacterSet::Utf8, "{name}");
        }
        for name in ["C", "POSIX"] {
            assert_eq!(character_set(name), CharacterSet::SingleBytes, "{name}");
        }
        for name in [
            "",
            "zh_CN",
            "zh_CN.GBK",
            "zh_TW.BIG5",
            "ja_JP.SJIS",
            "ja_JP.eucJP",
            "zh_CN.GB18030",
            "de_DE@euro",
            "C.GBK",
            "zh_CN.GBK.UTF-8",
            "zh_CN@x.UTF-8.GBK",
            "japanese",
            "utf8",
            "c",
            "zh_CN.GBK@UTF-8",
            "zh_CN.UTF-16",
        ] {
            assert_eq!(character_set(name), CharacterSet::Unknown, "{name}");
        }
    }
}
