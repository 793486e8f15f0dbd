//! Parsing of the text that a login shell has printed about itself.

use std::ffi::{OsStr, OsString};
use std::fmt;

use windlass_tool::environment::{given_environment, host_environment};

use crate::bash::cwd::quoted;

/// Maximum number of bytes of functions and aliases. They are read before each command.
const MAX_FUNCTION_BYTES: usize = 256 * 1024;
/// Minimum length of a secret. A shorter value may occur in a function by chance.
const MIN_SECRET_BYTES: usize = 8;
/// Variable of an SSH agent that a login shell starts, and that may end with that shell.
const SHELL_BOUND_VARIABLE: &str = "SSH_AUTH_SOCK";

/// Returns `true` if commands of a name are judged by that name, so that no function may have it.
pub(super) type IsJudged = fn(&str) -> bool;

/// The accepted parts of the printed text.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Dump {
    /// Variables of the allow-list.
    pub(super) env: Vec<(OsString, OsString)>,
    /// Definitions of functions and aliases, which bash reads before a command.
    pub(super) functions: Vec<u8>,
    /// Number of functions and aliases.
    pub(super) count: usize,
    /// Reason why there are none although they were requested.
    pub(super) note: Option<String>,
}

impl fmt::Debug for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values and functions may hold secrets.
        f.debug_struct("Dump")
            .field("variables", &self.env.len())
            .field("functions", &self.count)
            .finish_non_exhaustive()
    }
}

/// Script that prints variables, for any POSIX-like shell. `$1` is the mark.
const VARIABLES: &str = r#"printf '%s\0' "$1"
command env -0
printf '%s\0' "$1"
"#;

/// Script that prints functions and aliases without the name of a program, a builtin or a keyword. Completion functions
/// begin with one `_`.
const FUNCTIONS: &str = r#"__windlass_is_free() {
  local kinds; kinds=" $(builtin type -at -- "$1" 2>/dev/null) "; kinds=${kinds//$'\n'/ }
  [[ $kinds != *" file "* && $kinds != *" builtin "* && $kinds != *" keyword "* ]]
}
for name in $(builtin compgen -A function); do
  [[ $name == _[^_]* || $name == __windlass_is_free ]] && continue
  __windlass_is_free "$name" && printf '%s\0' function "$name" "$(builtin declare -f -- "$name")"
done
for name in "${!BASH_ALIASES[@]}"; do
  __windlass_is_free "$name" && printf '%s\0' alias "$name" "${BASH_ALIASES[$name]}"
done
"#;

/// Script with which a shell prints itself.
pub(super) fn script(with_functions: bool) -> String {
    let functions = if with_functions { FUNCTIONS } else { "" };
    format!("{VARIABLES}{functions}printf '%s\\0' \"$1\"\n")
}

/// Reads the printed text of a shell; `None` if it did not reach its end. Output of start-up files precedes the first
/// mark.
pub(super) fn read(printed: &str, mark: &str, is_judged: Option<IsJudged>) -> Option<Dump> {
    let mut parts = printed.split(mark).skip(1);
    let (variables, functions, _end) = (parts.next()?, parts.next()?, parts.next()?);
    let variables: Vec<(OsString, OsString)> = variables
        .split('\0')
        .filter_map(|entry| entry.split_once('='))
        .filter(|(_, value)| !value.contains(char::REPLACEMENT_CHARACTER))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let mut dump = Dump::default();
    if let Some(is_judged) = is_judged {
        let secrets = secrets(&variables);
        dump.add_functions(functions, &|name, body| {
            is_plain(name) && !is_judged(name) && !secrets.iter().any(|secret| body.contains(secret))
        });
    }
    dump.env = host_environment(variables);
    dump.env.retain(|(name, _)| name != SHELL_BOUND_VARIABLE);
    Some(dump)
}

/// Values that are secrets by the names of their variables.
fn secrets(variables: &[(OsString, OsString)]) -> Vec<String> {
    let kept_back = given_environment(variables.iter().cloned()).kept_back;
    let is_secret = |name: &OsStr| kept_back.iter().any(|secret| name == secret.as_str());
    let values = variables.iter().filter(|(name, _)| is_secret(name)).filter_map(|(_, value)| value.to_str());
    values.filter(|value| value.len() >= MIN_SECRET_BYTES).map(str::to_owned).collect()
}

fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.:+@".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

impl Dump {
    fn add_functions(&mut self, printed: &str, is_allowed: &dyn Fn(&str, &str) -> bool) {
        let mut fields = printed.split('\0').skip(1);
        let mut aliases = Vec::new();
        while let (Some(kind), Some(name), Some(body)) = (fields.next(), fields.next(), fields.next()) {
            if !is_allowed(name, body) {
                continue;
            }
            // A definition that needs an unset shell option does not parse, and is left out without a message.
            let mut line = |words: &str, text: String, lines: &mut Vec<u8>| {
                lines.extend(words.as_bytes());
                lines.extend(quoted(text.as_bytes()));
                lines.extend(b" 2>/dev/null\n");
                self.count += 1;
            };
            match kind {
                "function" => line("eval -- ", body.to_owned(), &mut self.functions),
                "alias" => line("alias -- ", format!("{name}={body}"), &mut aliases),
                _ => {}
            }
        }
        if !aliases.is_empty() {
            // Aliases follow the functions; otherwise they would be expanded in them.
            self.functions.extend(aliases);
            self.functions.extend(b"shopt -s expand_aliases\n");
        }
        if self.functions.len() > MAX_FUNCTION_BYTES {
            let bytes = self.functions.len();
            self.note =
                Some(format!("its functions have {bytes} bytes and are left out: {MAX_FUNCTION_BYTES} are the most"));
            (self.functions, self.count) = (Vec::new(), 0);
        }
    }
}

/// Merges the variables of a session with those of a login shell. The session's values take precedence, except for the
/// search path: folders of the login shell are added, in its order if the session's path is the one that the shell
/// began with.
pub(super) fn merged(
    session: &[(OsString, OsString)],
    initial_path: Option<&OsStr>,
    taken: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let mut merged = session.to_vec();
    for (name, value) in taken {
        match merged.iter_mut().find(|(known, _)| known == name) {
            None => merged.push((name.clone(), value.clone())),
            Some((_, session_path)) if name == "PATH" => {
                let is_same = initial_path == Some(session_path.as_os_str());
                *session_path = if is_same {
                    join_search_paths(value, session_path)
                } else {
                    join_search_paths(session_path, value)
                };
            }
            Some(_) => {}
        }
    }
    merged
}

/// Appends the missing folders of the second search path to the first.
fn join_search_paths(first: &OsStr, second: &OsStr) -> OsString {
    let mut folders: Vec<_> = std::env::split_paths(first).collect();
    for folder in std::env::split_paths(second) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).unwrap_or_else(|_| first.to_owned())
}

#[cfg(test)]
mod tests;
