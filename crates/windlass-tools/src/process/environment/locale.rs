//! Locale of programs: the user's language, and a character type in which command lines mean what was analysed.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use windlass_types::locale::{CharacterSet, VARIABLES, character_set};

use super::is_never;
use crate::bash::find_bash;

type Environment = Vec<(OsString, OsString)>;

/// Locale of the character type where the environment names none in UTF-8. A system without it stays in `C`.
const DEFAULT: &str = "C.UTF-8";
/// UTF-8 locales to look for, the first that works is taken.
const KNOWN: &[&str] = &[DEFAULT, "en_US.UTF-8", "UTF-8"];
/// Succeeds in a shell that reads three bytes of UTF-8 as one character. No other character set does.
const PROBE: &str = r"x=$'\346\227\245'; [ ${#x} = 1 ]";
const PROBE_TIME: Duration = Duration::from_secs(5);

/// Locale variables that were found for those of an environment.
static FOUND: Mutex<Option<HashMap<Environment, Environment>>> = Mutex::new(None);

/// An environment whose programs read UTF-8, on this machine: the first locale that works with the user's language, else
/// without it. `LC_CTYPE=C` where there is none. Asks bash once for each set of locale variables.
///
/// Cancel safe: the next call asks again.
pub async fn utf8_environment(environment: Environment) -> Environment {
    let (mut own, others): (Environment, _) = environment.into_iter().partition(|(name, _)| is_locale(name));
    own.sort();
    let known = FOUND.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|all| all.get(&own).cloned());
    let found = match known {
        Some(found) => found,
        None => {
            let found = find(&own, &others).await;
            let mut all = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
            all.get_or_insert_default().insert(own, found.clone());
            found
        }
    };
    others.into_iter().chain(found).collect()
}

async fn find(own: &Environment, others: &Environment) -> Environment {
    let Some(bash) = find_bash(others) else {
        return settled(own.clone());
    };
    let named = VARIABLES.iter().filter_map(|variable| value(own, variable)).filter(|name| is_utf8(name));
    let names = || named.clone().chain(KNOWN.iter().copied());
    let with_language = names().map(|name| with_character_type(own.clone(), name));
    let bare = names().map(|name| with_character_type(Vec::new(), name));
    for candidate in with_language.chain(bare) {
        if reads_utf8(&bash, others, &candidate).await {
            return candidate;
        }
    }
    with_character_type(own.clone(), "C")
}

async fn reads_utf8(bash: &std::path::Path, others: &Environment, locale: &Environment) -> bool {
    let mut shell = tokio::process::Command::new(bash);
    shell.args(["--noprofile", "--norc", "-c", PROBE]).env_clear().kill_on_drop(true);
    shell.envs(others.iter().filter(|(name, _)| !is_never(name)).map(|(name, value)| (name, value)));
    shell.envs(locale.iter().map(|(name, value)| (name, value)));
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = tokio::time::timeout(PROBE_TIME, shell.status()).await;
    ended.is_ok_and(|ended| ended.is_ok_and(|status| status.success()))
}

/// The environment with a character type that is UTF-8, or `C` where it was said that there is no UTF-8.
///
/// Whatever was set later or on purpose: `LC_ALL` would override the character type, so it is taken apart.
pub(super) fn settled(environment: Environment) -> Environment {
    let named = |variable, set| value(&environment, variable).filter(|name| character_set(name) == set);
    let chosen = named("LC_CTYPE", CharacterSet::Utf8)
        .or_else(|| named("LC_ALL", CharacterSet::Utf8))
        .or_else(|| named("LC_CTYPE", CharacterSet::SingleBytes))
        .or_else(|| named("LANG", CharacterSet::Utf8));
    let chosen = chosen.unwrap_or(DEFAULT).to_owned();
    with_character_type(environment, &chosen)
}

/// The environment with this locale for the character type, and none of another character set for anything but messages, which
/// are converted.
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

/// The value of a variable that is set and not empty; the last one, as programs get it.
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

    #[cfg(unix)]
    #[tokio::test]
    async fn the_locale_is_one_that_the_system_has() {
        if find_bash(&[]).is_none() {
            return windlass_testkit::skipped("bash");
        }
        let found = utf8_environment(environment("LANG=xx_XX.UTF-8 LC_CTYPE=C A=1")).await;
        let set = value(&found, "LC_CTYPE").map(character_set);
        assert!(matches!(set, Some(CharacterSet::Utf8 | CharacterSet::SingleBytes)), "{found:?}");
        assert!(!found.iter().any(|(_, value)| value == "xx_XX.UTF-8"), "a language that is not there: {found:?}");
        assert_eq!(value(&found, "A"), Some("1"));
    }
}
