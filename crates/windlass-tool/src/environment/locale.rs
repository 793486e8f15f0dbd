//! Locale of programs: the user's language, and a character type in which command lines mean what was analysed.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;

use windlass_types::locale::{CharacterSet, VARIABLES, character_set};

type Environment = Vec<(OsString, OsString)>;

/// Locale of the character type if the environment names none in UTF-8. A system without it stays in `C`.
const DEFAULT: &str = "C.UTF-8";
/// UTF-8 locales to look for, the first that the system has is used.
const KNOWN: &[&str] = &[DEFAULT, "en_US.UTF-8", "UTF-8"];
/// Directories of the system's locales.
const DIRECTORIES: &[&str] = &["/usr/lib/locale", "/usr/share/locale"];
const ARCHIVE: &str = "/usr/lib/locale/locale-archive";
/// Maximum size of the names in the archive, in bytes.
const MAX_NAMES: u64 = 1 << 20;

/// Names of the locales in the archive of the system, each between two NUL bytes.
static ARCHIVED: OnceLock<Vec<u8>> = OnceLock::new();

/// Returns the environment with a UTF-8 locale of this machine: the first that the system has, and in the user's
/// language if available, because programs take all of their locale or none. Runs no program.
pub fn utf8_environment(environment: Environment) -> Environment {
    let mut locales =
        VARIABLES.iter().filter_map(|variable| value(&environment, variable)).filter(|name| is_utf8(name));
    let mut names = locales.clone().chain(KNOWN.iter().copied());
    let Some(chosen) = names.find(|name| is_installed(name)).map(str::to_owned) else {
        // This system keeps its locales elsewhere, or in its library.
        let chosen = locales.next().unwrap_or(DEFAULT).to_owned();
        return with_character_type(environment, &chosen);
    };
    let settled = with_character_type(environment, &chosen);
    let is_there = |(name, value): &(OsString, OsString)| {
        !is_locale(name) || value.to_str().is_some_and(|value| value == chosen || is_installed(value))
    };
    settled.into_iter().filter(is_there).collect()
}

/// `true` if the files of a locale exist.
fn is_installed(name: &str) -> bool {
    if matches!(name, "C" | "POSIX") {
        return true;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return false;
    }
    let spelled = spellings(name);
    let in_directory =
        |directory: &&str| spelled.iter().any(|name| Path::new(directory).join(name).join("LC_CTYPE").exists());
    let archived = ARCHIVED.get_or_init(|| archived().unwrap_or_default());
    let in_archive = |name: &String| archived.split(|byte| *byte == 0).any(|known| known == name.as_bytes());
    DIRECTORIES.iter().any(in_directory) || spelled.iter().any(in_archive)
}

/// Spellings of a name: unchanged, and with its codeset as the GNU C library writes it: `utf8`, `gbk`.
fn spellings(name: &str) -> Vec<String> {
    let Some((language, rest)) = name.split_once('.') else { return vec![name.to_owned()] };
    let (codeset, modifier) = rest.split_once('@').map_or((rest, String::new()), |(c, m)| (c, format!("@{m}")));
    let normal: String = codeset.chars().filter(char::is_ascii_alphanumeric).collect();
    vec![name.to_owned(), format!("{language}.{}{modifier}", normal.to_ascii_lowercase())]
}

/// Names in the archive of the GNU C library.
fn archived() -> Option<Vec<u8>> {
    let mut file = std::fs::File::open(ARCHIVE).ok()?;
    let mut head = [0_u8; 28];
    file.read_exact(&mut head).ok()?;
    let number = |at: usize| {
        let bytes = head.get(at..)?.first_chunk::<4>()?;
        Some(u64::from(u32::from_ne_bytes(*bytes)))
    };
    let (offset, used) = (number(20)?, number(24)?.min(MAX_NAMES));
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut names = Vec::new();
    file.take(used).read_to_end(&mut names).ok()?;
    Some(names)
}

/// Environment with UTF-8 as the character type, or `C` if the variables state that there is no UTF-8.
///
/// `LC_ALL` is split up even if it was set on purpose, because it would override the character type.
pub(super) fn settled(environment: Environment) -> Environment {
    let named = |variable, set| value(&environment, variable).filter(|name| character_set(name) == set);
    let chosen = named("LC_CTYPE", CharacterSet::Utf8)
        .or_else(|| named("LC_ALL", CharacterSet::Utf8))
        .or_else(|| named("LC_CTYPE", CharacterSet::SingleBytes))
        .or_else(|| named("LANG", CharacterSet::Utf8));
    let chosen = chosen.unwrap_or(DEFAULT).to_owned();
    with_character_type(environment, &chosen)
}

/// Environment with this locale for the character type, and no other character set for anything but messages, which are
/// converted.
fn with_character_type(environment: Environment, locale: &str) -> Environment {
    let all = value(&environment, "LC_ALL").map(str::to_owned);
    let language = all.clone().or_else(|| value(&environment, "LANG").map(str::to_owned));
    let messages = value(&environment, "LC_MESSAGES").filter(|_| all.is_none()).map(str::to_owned);
    let keeps = |name: &OsStr, value: &OsStr| {
        !is_locale(name)
            || (all.is_none()
                && !VARIABLES.iter().any(|variable| name == *variable)
                && name != "LC_MESSAGES"
                && value.to_str().is_some_and(is_readable))
    };
    let mut settled: Environment = environment.into_iter().filter(|(name, value)| keeps(name, value)).collect();
    let foreign = language.as_deref().filter(|language| !is_readable(language));
    let messages = messages.or_else(|| foreign.map(str::to_owned));
    let language = language.as_deref().map(|language| if foreign.is_some() { locale } else { language });
    settled.push(("LC_CTYPE".into(), locale.into()));
    settled.extend(language.map(|language| ("LANG".into(), language.into())));
    settled.extend(messages.map(|messages| ("LC_MESSAGES".into(), messages.into())));
    settled
}

fn is_locale(name: &OsStr) -> bool {
    name == "LANG" || name.to_str().is_some_and(|name| name.starts_with("LC_"))
}

fn is_utf8(locale: &str) -> bool {
    character_set(locale) == CharacterSet::Utf8
}

fn is_readable(locale: &str) -> bool {
    character_set(locale) != CharacterSet::Unknown
}

/// Value of a variable that is set and not empty; the last one, as programs get it.
fn value<'a>(environment: &'a [(OsString, OsString)], variable: &str) -> Option<&'a str> {
    let (_, value) = environment.iter().rev().find(|(name, _)| name == variable)?;
    value.to_str().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(text: &str) -> Environment {
        let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.into(), value.into()));
        text.split_whitespace().filter_map(pair).collect()
    }

    #[test]
    fn programs_read_utf_8_whatever_locale_was_set() {
        for (given, expected) in [
            ("", "LC_CTYPE=C.UTF-8"),
            ("LANG=en_US.UTF-8", "LC_CTYPE=en_US.UTF-8 LANG=en_US.UTF-8"),
            ("LANG=C", "LC_CTYPE=C.UTF-8 LANG=C"),
            ("LC_ALL=C", "LC_CTYPE=C.UTF-8 LANG=C"),
            ("LC_ALL=", "LC_CTYPE=C.UTF-8"),
            ("LC_CTYPE=C", "LC_CTYPE=C"),
            ("LC_ALL=zh_CN.GBK", "LC_CTYPE=C.UTF-8 LANG=C.UTF-8 LC_MESSAGES=zh_CN.GBK"),
            ("LC_CTYPE=de_DE.UTF-8 LC_ALL=zh_CN.GBK", "LC_CTYPE=de_DE.UTF-8 LANG=de_DE.UTF-8 LC_MESSAGES=zh_CN.GBK"),
            ("LANG=zh_CN", "LC_CTYPE=C.UTF-8 LANG=C.UTF-8 LC_MESSAGES=zh_CN"),
            ("LANG=zh_CN LC_MESSAGES=C", "LC_CTYPE=C.UTF-8 LANG=C.UTF-8 LC_MESSAGES=C"),
            ("LC_CTYPE=ja_JP.SJIS LANG=ja_JP.UTF-8", "LC_CTYPE=ja_JP.UTF-8 LANG=ja_JP.UTF-8"),
            ("LC_CTYPE=ja_JP.SJIS", "LC_CTYPE=C.UTF-8"),
            (
                "LC_TIME=zh_CN.GBK LC_COLLATE=C A=1 LANGUAGE=zh LANG=de_DE.UTF-8",
                "LC_COLLATE=C A=1 LANGUAGE=zh LC_CTYPE=de_DE.UTF-8 LANG=de_DE.UTF-8",
            ),
            ("LC_ALL=de_DE.UTF-8 LANG=zh_CN.GBK LC_TIME=C", "LC_CTYPE=de_DE.UTF-8 LANG=de_DE.UTF-8"),
            ("LC_CTYPE=C.UTF-8 LC_CTYPE=zh_CN.GBK", "LC_CTYPE=C.UTF-8"),
        ] {
            assert_eq!(settled(environment(given)), environment(expected), "{given}");
            let again = settled(environment(expected));
            assert_eq!(again.len(), environment(expected).len(), "{given}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_locale_that_is_no_text_is_none() {
        use std::os::unix::ffi::OsStringExt as _;
        let bytes = |name: &str| (name.into(), OsString::from_vec(b"zh\xff.GBK".to_vec()));
        let given = vec![bytes("LC_ALL"), bytes("LC_CTYPE"), bytes("LC_TIME"), bytes("LANG")];
        assert_eq!(settled(given), environment("LC_CTYPE=C.UTF-8"));
    }

    #[test]
    fn a_language_that_is_not_there_is_left_out() {
        let found = utf8_environment(environment("LANG=xx_XX.UTF-8 LC_CTYPE=C LC_TIME=C A=1"));
        assert_eq!(value(&found, "LC_CTYPE").map(character_set), Some(CharacterSet::Utf8), "{found:?}");
        assert!(!found.iter().any(|(_, value)| value == "xx_XX.UTF-8"), "{found:?}");
        assert_eq!((value(&found, "A"), value(&found, "LC_TIME")), (Some("1"), Some("C")));
        assert!(!is_installed("../x.UTF-8") && !is_installed("") && !is_installed("xx_XX.UTF-8"));
        assert_eq!(spellings("de_DE.UTF-8@euro"), ["de_DE.UTF-8@euro", "de_DE.utf8@euro"]);
    }
}
