//! Signs in a program's output that the sandbox stopped it.

use windlass_tool::{SandboxViolation, ViolationKind};

/// Maximum number of lines that are reported per program.
const MOST: usize = 5;
/// Maximum length of a reported line, in characters.
const LONGEST: usize = 200;

/// Words by which programs report that a system call was refused, and the limit that may have caused it.
const SIGNS: &[(&str, ViolationKind)] = &[
    ("Read-only file system", ViolationKind::Write),
    ("Permission denied", ViolationKind::File),
    ("Operation not permitted", ViolationKind::Call),
    ("Network is unreachable", ViolationKind::Host),
    ("Temporary failure in name resolution", ViolationKind::Host),
    ("Could not resolve host", ViolationKind::Host),
    ("Name or service not known", ViolationKind::Host),
    ("EACCES", ViolationKind::File),
    ("EPERM", ViolationKind::Call),
    ("EROFS", ViolationKind::Write),
    ("ENETUNREACH", ViolationKind::Host),
    ("EAI_AGAIN", ViolationKind::Host),
];

/// Quotation marks around a path in an error text.
const QUOTES: &[(char, char)] = &[('\'', '\''), ('"', '"'), ('\u{2018}', '\u{2019}'), ('`', '\'')];

/// Returns the lines of a failed program's output that the sandbox may have caused, each with the likely limit. The
/// system does not report its refusals, so these are the program's own words, and none is certain.
pub(crate) fn violations(output: &str) -> Vec<SandboxViolation> {
    let mut found: Vec<SandboxViolation> = Vec::new();
    for line in output.lines() {
        let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| line.contains(sign)) else { continue };
        let line: String = line.trim().chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        if !found.iter().any(|known| known.evidence == line) {
            let subject = subject(&line, sign, *kind);
            found.push(SandboxViolation::likely(*kind, subject, line));
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

/// Returns the path or host that was refused, according to a line. `None` if the line does not name it.
fn subject(line: &str, sign: &str, kind: ViolationKind) -> Option<String> {
    let quoted = QUOTES.iter().find_map(|(open, close)| {
        let (_, rest) = line.split_once(*open)?;
        rest.split_once(*close).map(|(inside, _)| inside)
    });
    let (before, behind) = line.split_once(sign)?;
    // Such as `bash: line 1: /etc/x: Permission denied`, and `curl: (6) Could not resolve host: a.example`.
    let last = || before.trim_end().trim_end_matches(':').rsplit(": ").next();
    let first = || behind.trim_start_matches([':', ' ']).split_whitespace().next();
    let word = match kind {
        ViolationKind::Host => first().or_else(last),
        _ => quoted.or_else(last),
    };
    let is_subject = |word: &&str| match kind {
        ViolationKind::Host => word.contains('.') && !word.contains(char::is_whitespace),
        _ => word.contains('/') || quoted == Some(*word),
    };
    word.map(str::trim).filter(|word| !word.is_empty()).filter(is_subject).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_refusal_are_found() {
        let output =
            "ok\n  touch: cannot touch '/etc/x': Read-only file system\nb\u{1b}[1mash: ~/.ssh/id: Permission denied\n";
        let found = violations(output);
        assert_eq!(found[0].evidence, "touch: cannot touch '/etc/x': Read-only file system");
        assert_eq!(found[1].evidence, "b[1mash: ~/.ssh/id: Permission denied");
        assert!(found.iter().all(|violation| !violation.is_certain));
        assert_eq!(violations("all went well"), []);
    }

    #[test]
    fn what_was_refused_is_named_where_the_line_names_it() {
        for (line, kind, subject) in [
            ("touch: cannot touch '/etc/x': Read-only file system", ViolationKind::Write, Some("/etc/x")),
            ("bash: line 1: /root/a b: Permission denied", ViolationKind::File, Some("/root/a b")),
            ("rm: cannot remove \u{2018}x\u{2019}: Permission denied", ViolationKind::File, Some("x")),
            ("cat: /h/.netrc: Permission denied", ViolationKind::File, Some("/h/.netrc")),
            ("Error: EACCES: permission denied, open '/h/.npmrc'", ViolationKind::File, Some("/h/.npmrc")),
            ("strace: ptrace: Operation not permitted", ViolationKind::Call, None),
            ("mount: /mnt: Operation not permitted", ViolationKind::Call, Some("/mnt")),
            ("curl: (6) Could not resolve host: a.example", ViolationKind::Host, Some("a.example")),
            ("ping: b.example: Name or service not known", ViolationKind::Host, Some("b.example")),
            ("connect: Network is unreachable", ViolationKind::Host, None),
            ("Permission denied (publickey).", ViolationKind::File, None),
        ] {
            let found = violations(line);
            assert_eq!((found[0].kind, found[0].subject.as_deref()), (kind, subject), "{line}");
        }
    }

    #[test]
    fn a_flood_is_a_few_short_lines() {
        let line = |at: usize| format!("{at} {} EACCES", "x".repeat(at));
        let output: String = (0..1000).map(|at| line(at) + "\n").collect();
        assert_eq!(violations(&output).len(), MOST);
        let long = "é".repeat(1000) + " EACCES";
        assert_eq!(violations(&long)[0].evidence.chars().count(), LONGEST);
        assert_eq!(violations(&"EPERM\n".repeat(9)).len(), 1);
    }
}
