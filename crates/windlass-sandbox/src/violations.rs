//! What of a program's output says that the sandbox stopped it.

/// How many lines are reported of one program.
const MOST: usize = 5;
/// How long a reported line is, in characters.
const LONGEST: usize = 200;

/// Words in which programs report that a call of the system was refused, and what of the sandbox it may have been.
const SIGNS: &[(&str, &str)] = &[
    ("Read-only file system", "a write outside of the writable directories, or to a protected name"),
    ("Permission denied", "a file that the sandbox hides or keeps as it is"),
    ("Operation not permitted", "a call that the sandbox forbids"),
    ("Network is unreachable", "the network, which is off"),
    ("Temporary failure in name resolution", "the network, which is off"),
    ("Could not resolve host", "the network, which is off"),
    ("Name or service not known", "the network, which is off"),
    ("EACCES", "a file that the sandbox hides or keeps as it is"),
    ("EPERM", "a call that the sandbox forbids"),
    ("EROFS", "a write outside of the writable directories, or to a protected name"),
    ("ENETUNREACH", "the network, which is off"),
    ("EAI_AGAIN", "the network, which is off"),
];

/// The lines of a failed program's output that the sandbox may have caused, each with what it may have been. The system does not
/// report what it refused, so these are the program's own words.
pub(crate) fn violations(output: &str) -> Vec<(String, &'static str)> {
    let mut found: Vec<(String, &'static str)> = Vec::new();
    for line in output.lines() {
        let Some((_, what)) = SIGNS.iter().find(|(sign, _)| line.contains(sign)) else { continue };
        let line: String = line.trim().chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        if !found.iter().any(|(known, _)| *known == line) {
            found.push((line, what));
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_refusal_are_found() {
        let output =
            "ok\n  touch: cannot touch '/etc/x': Read-only file system\nb\u{1b}[1mash: ~/.ssh/id: Permission denied\n";
        let found = violations(output);
        assert_eq!(found[0].0, "touch: cannot touch '/etc/x': Read-only file system");
        assert_eq!(found[1], ("b[1mash: ~/.ssh/id: Permission denied".to_owned(), SIGNS[1].1));
        assert_eq!(violations("all went well"), []);
    }

    #[test]
    fn a_flood_is_a_few_short_lines() {
        let line = |at: usize| format!("{at} {} EACCES", "x".repeat(at));
        let output: String = (0..1000).map(|at| line(at) + "\n").collect();
        assert_eq!(violations(&output).len(), MOST);
        let long = "é".repeat(1000) + " EACCES";
        assert_eq!(violations(&long)[0].0.chars().count(), LONGEST);
        assert_eq!(violations(&"EPERM\n".repeat(9)).len(), 1);
    }
}
