//! The profile of Seatbelt, the sandbox of macOS.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Ground, Network, SandboxPolicy};

/// Returns the profile of `sandbox-exec` that implements a policy, as far as Seatbelt can.
///
/// Later lines of a profile take precedence, so that protected paths follow writable ones. Paths that are no text
/// cannot be written in a profile: a writable one is left out, and a protected or hidden one makes the whole result
/// `None`.
pub fn seatbelt_profile(policy: &SandboxPolicy, ground: &Ground) -> Option<String> {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-exec)\n(allow process-fork)\n(allow signal (target same-sandbox))\n\
         (allow sysctl-read)\n(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n\
         (allow file-read*)\n(allow file-ioctl (regex #\"^/dev/(tty|ptmx|null|zero)\"))\n\
         (allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (regex #\"^/dev/tty\"))\n",
    );
    for path in ground.writable.iter().filter_map(|path| quoted(path)) {
        let _ = writeln!(text, "(allow file-write* (subpath {path}))");
    }
    for path in &ground.pins {
        let _ = writeln!(text, "(deny file-write-unlink (literal {}))", quoted(path)?);
    }
    let absent = ground.watched.iter().map(|watched| &watched.path);
    for path in ground.masks.iter().chain(absent) {
        let _ = writeln!(text, "(deny file-write* (subpath {}))", quoted(path)?);
    }
    for path in ground.hidden_directories.iter().chain(&ground.hidden_files) {
        let path = quoted(path)?;
        let _ = writeln!(text, "(deny file-read* file-write* (subpath {path}))");
    }
    match policy.network {
        Network::On => text.push_str("(allow network*)\n"),
        Network::Proxy(address) => {
            let _ = writeln!(text, "(allow network-outbound (remote ip \"localhost:{}\"))", address.port());
        }
        Network::Off => {}
    }
    if policy.unix_sockets && policy.network != Network::On {
        text.push_str("(allow network* (local unix-socket) (remote unix-socket))\n");
    }
    Some(text)
}

/// Quotes a path as a string of the profile's language.
fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\0']))?;
    Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Watched;

    fn ground() -> Ground {
        Ground {
            writable: vec!["/w".into(), "/private/tmp/t".into()],
            pins: vec!["/w/.git".into()],
            masks: vec!["/w/.git/hooks".into()],
            hidden_directories: vec!["/Users/me/.ssh".into()],
            hidden_files: vec!["/Users/me/.netrc".into()],
            emptied: vec!["/w/.env".into()],
            watched: vec![Watched { path: "/w/.windlass".into(), link: None }],
        }
    }

    #[test]
    fn the_profile_is_this() {
        let profile = seatbelt_profile(&SandboxPolicy::default(), &ground()).unwrap();
        let expected = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read*)
(allow file-ioctl (regex #"^/dev/(tty|ptmx|null|zero)"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/tty"))
(allow file-write* (subpath "/w"))
(allow file-write* (subpath "/private/tmp/t"))
(deny file-write-unlink (literal "/w/.git"))
(deny file-write* (subpath "/w/.git/hooks"))
(deny file-write* (subpath "/w/.windlass"))
(deny file-read* file-write* (subpath "/Users/me/.ssh"))
(deny file-read* file-write* (subpath "/Users/me/.netrc"))
"#;
        assert_eq!(profile, expected);
    }

    #[test]
    fn the_network_is_off_a_proxy_or_open() {
        let end = |network| {
            let policy = SandboxPolicy::default().with_network(network);
            seatbelt_profile(&policy, &Ground::default()).unwrap().lines().next_back().unwrap().to_owned()
        };
        assert!(!end(Network::Off).contains("network"));
        let proxy = end(Network::Proxy("127.0.0.1:8123".parse().unwrap()));
        assert_eq!(proxy, "(allow network-outbound (remote ip \"localhost:8123\"))");
        assert_eq!(end(Network::On), "(allow network*)");
    }

    #[test]
    fn a_hostile_path_stays_a_string() {
        let profile = |ground: &Ground| seatbelt_profile(&SandboxPolicy::default(), ground);
        let hostile = Ground { masks: vec!["/w/\")) (allow default) ((\"\\".into()], ..Ground::default() };
        assert!(profile(&hostile).unwrap().contains(r#"(subpath "/w/\")) (allow default) ((\"\\")"#));
        let broken = Ground { hidden_files: vec!["/w/\n(allow default)".into()], ..Ground::default() };
        assert_eq!(profile(&broken), None);
    }
}
