//! Assignments before a command that change only how it reports.
//!
//! The C library and the programs themselves open files that such variables name: catalogues of messages, zones,
//! locales, descriptions of terminals. A value with a slash could name a file of the workspace, and a forged catalogue
//! can make a program write its memory. So a value is of a small alphabet in which no path can be written. Variables
//! whose values are paths by nature (`NLSPATH`, `LOCPATH`, `TERMINFO`, `TERMCAP`, `TZDIR`) are never among them.
//!
//! A character set is chosen only by name: UTF-8, or the single bytes of `C`. In any other, and in one that the system
//! chooses (`zh_CN`), programs may read quotes and operators elsewhere than they were analysed.

use crate::command::{Assignment, SimpleCommand};
use windlass_types::locale::{CharacterSet, character_set};

impl SimpleCommand {
    /// Returns `true` if all assignments are of variables that are known to change only how a program reports, with
    /// values that name no file.
    #[must_use]
    pub fn has_only_safe_assignments(&self) -> bool {
        self.assignments.iter().all(is_safe)
    }
}

/// Returns `true` if setting the variable to this value can only change how a program reports. The name decides first:
/// an empty `PATH`, `IFS` or `HOME` has a meaning too.
fn is_safe(assignment: &Assignment) -> bool {
    let value = assignment.value.as_str();
    match assignment.name.as_str() {
        "CI" | "CLICOLOR" | "CLICOLOR_FORCE" | "FORCE_COLOR" | "NODE_ENV" | "NO_COLOR" | "RUST_BACKTRACE" => {
            is_plain(value, "_-")
        }
        "COLUMNS" | "LINES" => value.chars().all(|c| c.is_ascii_digit()),
        "RUST_LOG" => is_plain(value, "_-:=,"),
        "TERM" => is_name(value, "_-+."),
        "TZ" => is_zone(value),
        // A list of languages, each of which is part of the name of a file.
        "LANGUAGE" => value.split(':').all(is_locale),
        // Without a value the next one of them decides, of which none that programs get is of another set.
        "LANG" | "LC_ALL" | "LC_CTYPE" => {
            is_locale(value) && (value.is_empty() || character_set(value) != CharacterSet::Unknown)
        }
        "LC_ADDRESS" | "LC_COLLATE" | "LC_IDENTIFICATION" | "LC_MEASUREMENT" | "LC_MESSAGES" | "LC_MONETARY"
        | "LC_NAME" | "LC_NUMERIC" | "LC_PAPER" | "LC_TELEPHONE" | "LC_TIME" => {
            is_locale(value) && (!value.contains('.') || character_set(value) == CharacterSet::Utf8)
        }
        _ => false,
    }
}

fn is_plain(value: &str, more: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

/// Returns `true` for a name in a directory of the system: empty, or without a dot or a sign in the first place.
fn is_name(value: &str, more: &str) -> bool {
    value.is_empty() || (value.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_plain(value, more))
}

/// Returns `true` for a locale: `en_US.UTF-8`, `de_DE@euro`, `C`.
fn is_locale(value: &str) -> bool {
    is_name(value, "_-.@")
}

/// Returns `true` for a zone, `UTC`, `EST5EDT`, `Europe/Berlin`, `Etc/GMT+5`: names below the system's directory of
/// zones, without a dot.
fn is_zone(value: &str) -> bool {
    value.is_empty() || value.split('/').all(|name| !name.is_empty() && is_name(name, "_-+"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe(text: &str) -> bool {
        let (name, value) = text.split_once('=').unwrap();
        is_safe(&Assignment { name: name.to_owned(), value: value.to_owned() })
    }

    /// The names that are safe with some value: every other name is not, whatever its value.
    const NAMES: &[&str] = &[
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "FORCE_COLOR",
        "LANG",
        "LANGUAGE",
        "LC_ADDRESS",
        "LC_ALL",
        "LC_COLLATE",
        "LC_CTYPE",
        "LC_IDENTIFICATION",
        "LC_MEASUREMENT",
        "LC_MESSAGES",
        "LC_MONETARY",
        "LC_NAME",
        "LC_NUMERIC",
        "LC_PAPER",
        "LC_TELEPHONE",
        "LC_TIME",
        "LINES",
        "NODE_ENV",
        "NO_COLOR",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
    ];

    proptest::proptest! {
        #[test]
        fn no_value_makes_another_name_safe(
            name in "(LC_|LANG|LD_|GIT_|BASH_|TERM|TZ)?[A-Za-z_][A-Za-z0-9_]{0,12}",
            value in "(|0|1|C|UTC|true|en_US.UTF-8|[a-z]{0,4})",
        ) {
            let is_safe = safe(&format!("{name}={value}"));
            proptest::prop_assert!(NAMES.contains(&name.as_str()) || !is_safe);
        }
    }

    #[test]
    fn an_empty_value_makes_no_name_safe() {
        for name in [
            "BASHOPTS",
            "BASH_ENV",
            "CDPATH",
            "ENV",
            "GCONV_PATH",
            "GIT_DIR",
            "GLOBIGNORE",
            "GREP_OPTIONS",
            "HOME",
            "IFS",
            "LD_LIBRARY_PATH",
            "LD_PRELOAD",
            "LESSOPEN",
            "LOCPATH",
            "NLSPATH",
            "PAGER",
            "PATH",
            "POSIXLY_CORRECT",
            "PS4",
            "PWD",
            "RIPGREP_CONFIG_PATH",
            "SHELLOPTS",
            "TERMINFO",
            "TMPDIR",
            "TZDIR",
            "XDG_CONFIG_HOME",
            "_",
            "A",
        ] {
            assert!(!safe(&format!("{name}=")), "{name}");
        }
        for name in NAMES.iter().filter(|name| **name != "LC_ALL") {
            assert!(safe(&format!("{name}=")), "{name}");
        }
    }

    #[test]
    fn values_of_safe_variables_name_no_files() {
        for text in [
            "LANG=C",
            "LANG=en_US.UTF-8",
            "LANG=",
            "LC_ALL=C.UTF-8",
            "LC_ALL=C",
            "LC_ALL=POSIX",
            "LC_CTYPE=zh_CN.utf8",
            "LC_COLLATE=C",
            "LC_MESSAGES=de_DE",
            "LC_TIME=de_DE@euro",
            "LANGUAGE=de:en_GB:en",
            "TZ=UTC",
            "TZ=Europe/Berlin",
            "TZ=America/Argentina/Buenos_Aires",
            "TZ=Etc/GMT+5",
            "TZ=EST5EDT",
            "TERM=xterm-256color",
            "TERM=dumb",
            "COLUMNS=200",
            "LINES=50",
            "CI=true",
            "NO_COLOR=1",
            "FORCE_COLOR=0",
            "NODE_ENV=production",
            "RUST_BACKTRACE=full",
            "RUST_LOG=debug",
            "RUST_LOG=crate::module=trace,other=info",
        ] {
            assert!(safe(text), "{text}");
        }
        for text in [
            "LANGUAGE=../../../w",
            "LANGUAGE=/w/po",
            "LANGUAGE=de:../w",
            "LANGUAGE=..",
            "LANGUAGE=.hidden",
            "LC_ALL=zh_CN.GBK",
            "LC_ALL=zh_CN",
            "LC_ALL=zh_CN.GBK.UTF-8",
            "LC_CTYPE=ja_JP.SJIS",
            "LC_CTYPE=de_DE@euro",
            "LANG=zh_TW.BIG5",
            "LANG=de",
            "LC_COLLATE=zh_CN.GBK",
            "LC_MESSAGES=ja_JP.eucJP",
            "LANG=/w/locale",
            "LANG=./de",
            "LC_ALL=../w",
            "LC_ALL=.",
            "LC_MESSAGES=a/b",
            "LC_ANYTHING=de",
            "LC_ALL=de DE",
            "TZ=:Europe/Berlin",
            "TZ=:/w/zone",
            "TZ=/w/zone",
            "TZ=../../../../w/zone",
            "TZ=Europe/../../w",
            "TZ=./zone",
            "TZ=a//b",
            "TERM=../w",
            "TERM=/w/term",
            "TERM=.x",
            "TERM=:co#80:",
            "COLUMNS=a",
            "COLUMNS=../x",
            "NODE_ENV=../../x",
            "CI=a b",
            "RUST_LOG=a/b",
            "NLSPATH=x",
            "LOCPATH=x",
            "TERMINFO=x",
            "TERMCAP=x",
            "TZDIR=x",
            "HOME=x",
            "LD_PRELOAD=x",
        ] {
            assert!(!safe(text), "{text}");
        }
    }
}
