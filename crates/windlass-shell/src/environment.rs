//! Assignments before a command that change only how it reports.
//!
//! The C library and the programs themselves open files that such variables name: catalogues of messages, zones,
//! locales, descriptions of terminals. A value with a slash leads them into the workspace, where a forged catalogue
//! can make a program write its memory. So a value is of a small alphabet in which no path can be written. Variables
//! whose values are paths by nature (`NLSPATH`, `LOCPATH`, `TERMINFO`, `TERMCAP`, `TZDIR`) are never among them.

use crate::command::{Assignment, SimpleCommand};

impl SimpleCommand {
    /// Whether all assignments are of variables that are known to change only how a program
    /// reports, with values that name no file.
    #[must_use]
    pub fn has_only_safe_assignments(&self) -> bool {
        self.assignments.iter().all(is_safe)
    }
}

/// Whether setting the variable to this value can only change how a program reports.
fn is_safe(assignment: &Assignment) -> bool {
    let value = assignment.value.as_str();
    value.is_empty()
        || match assignment.name.as_str() {
            "CI" | "CLICOLOR" | "CLICOLOR_FORCE" | "FORCE_COLOR" | "NODE_ENV" | "NO_COLOR" | "RUST_BACKTRACE" => {
                is_plain(value, "_-")
            }
            "COLUMNS" | "LINES" => value.chars().all(|c| c.is_ascii_digit()),
            "RUST_LOG" => is_plain(value, "_-:=,"),
            "TERM" => begins_plainly(value) && is_plain(value, "_-+."),
            "TZ" => is_zone(value),
            // A list of languages, each of which is part of the name of a file.
            "LANGUAGE" => value.split(':').all(is_locale),
            "LANG" | "LC_ADDRESS" | "LC_ALL" | "LC_COLLATE" | "LC_CTYPE" | "LC_IDENTIFICATION" | "LC_MEASUREMENT"
            | "LC_MESSAGES" | "LC_MONETARY" | "LC_NAME" | "LC_NUMERIC" | "LC_PAPER" | "LC_TELEPHONE" | "LC_TIME" => {
                is_locale(value)
            }
            _ => false,
        }
}

fn is_plain(value: &str, more: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

fn begins_plainly(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// `en_US.UTF-8`, `de_DE@euro`, `C`
fn is_locale(value: &str) -> bool {
    begins_plainly(value) && is_plain(value, "_-.@")
}

/// `UTC`, `EST5EDT`, `Europe/Berlin`, `Etc/GMT+5`: names below the system's directory of zones, without a dot.
fn is_zone(value: &str) -> bool {
    value.split('/').all(|name| begins_plainly(name) && is_plain(name, "_-+"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe(text: &str) -> bool {
        let (name, value) = text.split_once('=').unwrap();
        is_safe(&Assignment { name: name.to_owned(), value: value.to_owned() })
    }

    #[test]
    fn values_of_safe_variables_name_no_files() {
        for text in [
            "LANG=C",
            "LANG=en_US.UTF-8",
            "LANG=",
            "LC_ALL=C.UTF-8",
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
