//! Parsing of `--workspace`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A container or machine, and a directory there: `docker:NAME[:PATH]` or `ssh:HOST[:PATH]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) there: There,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Docker,
    Ssh,
}

/// Directory of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum There {
    /// The directory in which programs begin.
    Start,
    /// An absolute path.
    At(PathBuf),
    /// A path in the home directory of the account there.
    InHome(PathBuf),
}

/// Writes the target without the directory.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Docker => "docker",
            Kind::Ssh => "ssh",
        };
        write!(f, "{kind}:{}", self.name)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').ok_or("say docker:NAME[:PATH] or ssh:HOST[:PATH]")?;
        let kind = match kind {
            "docker" => Kind::Docker,
            "ssh" => Kind::Ssh,
            _ => return Err(format!("there is no {kind:?}: say docker:NAME[:PATH] or ssh:HOST[:PATH]")),
        };
        let (name, path) = parted(rest);
        if name.is_empty() {
            return Err(match kind {
                Kind::Docker => "it names no container: say docker:NAME[:PATH]".to_owned(),
                Kind::Ssh => "it names no host: say ssh:HOST[:PATH]".to_owned(),
            });
        }
        Ok(Self { kind, name: name.to_owned(), there: path.map_or(Ok(There::Start), there)? })
    }
}

/// Splits a target into the name and the path behind it. An address in brackets has colons of its own.
fn parted(rest: &str) -> (&str, Option<&str>) {
    let address = rest.find('[').filter(|at| !rest.get(..*at).unwrap_or_default().contains(':'));
    let address_end = address.and_then(|_| rest.find(']')).unwrap_or_default();
    let colon = rest.get(address_end..).and_then(|rest| rest.find(':')).map(|at| address_end.saturating_add(at));
    match colon.and_then(|at| Some((rest.get(..at)?, rest.get(at.saturating_add(1)..)?))) {
        Some((name, path)) => (name, Some(path)),
        None => (rest, None),
    }
}

fn there(path: &str) -> Result<There, String> {
    match path.strip_prefix('~') {
        Some("") => Ok(There::InHome(PathBuf::new())),
        // `/` in front would make it absolute again.
        Some(rest) if rest.starts_with('/') => Ok(There::InHome(rest.trim_start_matches('/').into())),
        _ if path.starts_with('/') => Ok(There::At(path.into())),
        _ => Err(format!("the path {path:?} is not absolute: begin it with / or ~/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(String, There), String> {
        text.parse::<Target>().map(|target| (target.to_string(), target.there))
    }

    #[test]
    fn a_target_has_a_name_and_perhaps_a_path() {
        let at = |path: &str| There::At(path.into());
        for (text, name, there) in [
            ("docker:web", "docker:web", There::Start),
            ("docker:web:/srv/app", "docker:web", at("/srv/app")),
            ("ssh:me@host:/a:b", "ssh:me@host", at("/a:b")),
            ("ssh:me@[fe80::1%eth0]:/srv", "ssh:me@[fe80::1%eth0]", at("/srv")),
            ("ssh:[::1]", "ssh:[::1]", There::Start),
            ("docker:web:/a[b]:c", "docker:web", at("/a[b]:c")),
            ("ssh:host:~", "ssh:host", There::InHome("".into())),
            ("ssh:host:~//x/y", "ssh:host", There::InHome("x/y".into())),
            ("docker:web:/a b\n'\"$(id)/-x", "docker:web", at("/a b\n'\"$(id)/-x")),
        ] {
            assert_eq!(parsed(text), Ok((name.to_owned(), there)), "{text:?}");
        }
    }

    #[test]
    fn what_names_no_place_says_how_to_name_one() {
        for (text, said) in [
            ("", "docker:NAME"),
            ("web", "docker:NAME"),
            ("podman:web", "podman"),
            ("docker:", "no container"),
            ("docker::/srv", "no container"),
            ("ssh:", "no host"),
            ("docker:web:", "not absolute"),
            ("docker:web:srv", "not absolute"),
            ("docker:web:-x", "not absolute"),
            ("ssh:host:~me/x", "not absolute"),
        ] {
            let problem = parsed(text).unwrap_err();
            assert!(problem.contains(said), "{text:?}: {problem}");
        }
    }
}
