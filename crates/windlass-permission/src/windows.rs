//! Paths as Windows writes them, brought to the form that rules compare. Pure: they work on any system.

/// Names of devices, whatever their ending.
const DEVICES: [&str; 4] = ["CON", "PRN", "AUX", "NUL"];

/// Returns a path of Windows in the form of rules: `/c/Users/me/x` for `C:\Users\me\x`, `//server/share/x` for
/// `\\server\share\x`.
///
/// Drive letters become lower case, both kinds of slash are equal, `\\?\` and `\\.\` in front of a drive are removed,
/// `.` and `..` are resolved by text, and blanks and dots at the end of a name are removed, as Windows drops them. Case
/// is kept: rules that deny or ask ignore it.
///
/// `None` if the path does not certainly name one file, so that a rule must not be compared with it: paths that depend
/// on the directory of a drive (`C:x`, `\x`), streams of a file (`x:y`), devices (`NUL`, `\\.\pipe`), names that
/// Windows does not allow, and short names (`PROGRA~1`), which may mean others.
#[must_use]
pub fn windows_path(path: &str) -> Option<String> {
    let path = path.replace('/', "\\");
    let (root, rest) = split_root(&path)?;
    let mut names: Vec<&str> = Vec::new();
    for name in rest.split('\\').filter(|name| !name.is_empty() && *name != ".") {
        if name == ".." {
            names.pop();
            continue;
        }
        names.push(plain_name(name)?);
    }
    let separator = if names.is_empty() { "" } else { "/" };
    Some(format!("{root}{separator}{}", names.join("/")))
}

/// Returns the root in the form of rules, and the rest.
fn split_root(path: &str) -> Option<(String, &str)> {
    let is_verbatim = |prefix: &str| path.strip_prefix(prefix);
    if let Some(rest) = is_verbatim("\\\\?\\UNC\\") {
        return share(rest);
    }
    if let Some(rest) = is_verbatim("\\\\?\\").or_else(|| is_verbatim("\\\\.\\")) {
        return drive(rest);
    }
    match is_verbatim("\\\\") {
        Some(rest) => share(rest),
        None => drive(path),
    }
}

fn drive(path: &str) -> Option<(String, &str)> {
    let (letter, rest) = path.split_once(':')?;
    let is_letter = letter.len() == 1 && letter.chars().all(|c| c.is_ascii_alphabetic());
    let rest = rest.strip_prefix('\\').filter(|_| is_letter)?;
    Some((format!("/{}", letter.to_ascii_lowercase()), rest))
}

fn share(rest: &str) -> Option<(String, &str)> {
    let (server, rest) = rest.split_once('\\')?;
    let (share, rest) = rest.split_once('\\').unwrap_or((rest, ""));
    let (server, share) = (plain_name(server)?, plain_name(share)?);
    Some((format!("//{}/{}", server.to_lowercase(), share.to_lowercase()), rest))
}

/// Returns the name as Windows stores it, if it can be only this one.
fn plain_name(name: &str) -> Option<&str> {
    let name = name.trim_end_matches([' ', '.']);
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let is_port = |prefix: &str| {
        let number = stem.get(..3).filter(|start| start.eq_ignore_ascii_case(prefix)).and_then(|_| stem.get(3..));
        number.is_some_and(|number| {
            number.chars().count() == 1 && number.chars().all(|c| c.is_ascii_digit() || "¹²³".contains(c))
        })
    };
    let is_device = DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) || is_port("COM") || is_port("LPT");
    let is_short = name.split('.').next().is_some_and(|stem| {
        stem.rsplit_once('~')
            .is_some_and(|(_, number)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    });
    let is_odd = |c: char| c.is_control() || matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|');
    (!name.is_empty() && !is_device && !is_short && !name.contains(is_odd)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_brought_to_one_form() {
        for (path, expected) in [
            (r"C:\Users\me\x.txt", "/c/Users/me/x.txt"),
            ("c:/Users/me/x.txt", "/c/Users/me/x.txt"),
            (r"C:\Users\me\..\you\.\x", "/c/Users/you/x"),
            (r"C:\..\..\x", "/c/x"),
            (r"C:\", "/c"),
            (r"C:\a. \b...\c ", "/c/a/b/c"),
            (r"\\?\C:\a\b", "/c/a/b"),
            (r"\\.\C:\a", "/c/a"),
            (r"\\Server\Share\a\b", "//server/share/a/b"),
            (r"\\?\UNC\server\share\a", "//server/share/a"),
            (r"\\server\share", "//server/share"),
            (r"D:\ä\ö", "/d/ä/ö"),
            (r"C:\console\com10\nulls", "/c/console/com10/nulls"),
            (r"C:\a~b\~x", "/c/a~b/~x"),
        ] {
            assert_eq!(windows_path(path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn what_may_be_another_file_has_no_form() {
        for path in [
            "",
            "x",
            r"a\b",
            "C:",
            "C:x",
            r"\x",
            "/x",
            r"1:\x",
            r"CC:\x",
            r"C:\x:stream",
            r"C:\x::$DATA",
            r"C:\NUL",
            r"C:\a\con.txt",
            r"C:\com1.log",
            r"C:\LPT²",
            r"C:\aux .txt",
            r"C:\PROGRA~1\x",
            r"C:\x*",
            "C:\\a\u{0}b",
            r"\\.\pipe\x",
            r"\\.\PhysicalDrive0",
            r"\\?\GLOBALROOT\Device",
            r"\\server",
            r"\\ \share",
        ] {
            assert_eq!(windows_path(path), None, "{path}");
        }
    }
}
