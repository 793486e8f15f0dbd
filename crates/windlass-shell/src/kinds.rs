//! The kinds of commands, for hosts that show them.

use crate::{Analysis, Effect, FoundCommand, OutputKind, RedirectKind};
use windlass_types::CommandKinds;

const SEARCH: &[&str] =
    &["ack", "ag", "egrep", "fd", "fdfind", "fgrep", "find", "grep", "locate", "rg", "whereis", "which", "zgrep"];

const READ: &[&str] = &[
    "awk", "bat", "cat", "comm", "cut", "diff", "file", "gawk", "head", "hexdump", "jq", "less", "more", "nl", "od",
    "sort", "stat", "strings", "tac", "tail", "tr", "uniq", "wc", "xxd", "zcat",
];

const LIST: &[&str] = &["du", "ls", "tree"];

const SILENT: &[&str] = &[
    ":", "cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "popd", "pushd", "rm", "rmdir", "set",
    "sleep", "touch", "true", "unset", "wait",
];

/// Programs whose purpose is to change files, whatever their options are.
const WRITE: &[&str] = &[
    "chgrp", "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mv", "patch", "rm", "rmdir", "rsync", "tee",
    "touch", "truncate", "unlink",
];

impl Analysis {
    /// Returns the kinds of the commands of the text, at any nesting.
    ///
    /// ```
    /// let kinds = windlass_shell::analyse("grep -rn TODO src | head -5").kinds();
    /// assert!(kinds.search && kinds.read && !kinds.silent && !kinds.write);
    /// ```
    #[must_use]
    pub fn kinds(&self) -> CommandKinds {
        let has = |programs: &[&str]| self.found().iter().any(|command| is_one_of(command, programs));
        let writes_by_form = |command: &FoundCommand| {
            let redirects = command.redirects().iter().filter(|redirect| !redirect.is_harmless());
            redirects.into_iter().any(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append))
                || command.outputs().iter().any(|output| output.kind == OutputKind::Written)
        };
        let understood = self.understood().map(crate::Understood::commands).unwrap_or_default();
        let changes = understood.iter().any(|command| command.classify().effect == Effect::FileChange);
        let mut kinds = CommandKinds::default();
        (kinds.search, kinds.read, kinds.list) = (has(SEARCH), has(READ), has(LIST));
        kinds.write = changes || has(WRITE) || self.found().iter().any(writes_by_form);
        kinds.silent = !self.found().is_empty() && self.found().iter().all(|command| is_one_of(command, SILENT));
        kinds
    }
}

fn is_one_of(command: &FoundCommand, programs: &[&str]) -> bool {
    command.program().is_some_and(|program| programs.contains(&program))
}

#[cfg(test)]
mod tests {
    use crate::analyse;

    #[test]
    fn lines_have_the_kinds_of_their_commands() {
        for (line, expected) in [
            ("grep x a", "search"),
            ("find . -name x | xargs wc -l", "search read"),
            ("cat a | sort", "read"),
            ("ls -la && tree", "list"),
            ("cd src && ls", "list"),
            ("mkdir a && touch a/b", "silent write"),
            ("cd src", "silent"),
            ("echo x > a", "write"),
            ("sed -i s/a/b/ f", "write"),
            ("cat <<'E' > f\nx\nE", "read write"),
            ("curl -o x http://h", "write"),
            ("timeout 5 grep x a", "search"),
            ("for f in *.rs; do wc -l \"$f\"; done", "read"),
            ("bash -c 'rm x'", "write"),
            ("echo $(cat a)", "read"),
            ("cargo test", ""),
            ("cargo test 2>&1 > /dev/null", ""),
            ("", ""),
        ] {
            let kinds = analyse(line).kinds();
            let names = [
                (kinds.search, "search"),
                (kinds.read, "read"),
                (kinds.list, "list"),
                (kinds.silent, "silent"),
                (kinds.write, "write"),
            ];
            let names: Vec<&str> = names.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
            assert_eq!(names.join(" "), expected, "{line}");
        }
    }
}
