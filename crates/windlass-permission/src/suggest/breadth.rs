//! Directories that are never offered as a whole.

use crate::path::names;
use crate::workspace::Workspace;
use std::path::Path;

/// Directories of the system below which no directory is offered: configuration, devices, processes, logs, keys.
const SYSTEM: &[&str] = &[
    "bin", "boot", "cores", "dev", "etc", "lib", "lib32", "lib64", "library", "private", "proc", "root", "run", "sbin",
    "sys", "system", "var", "windows",
];

/// Directories of the system below which a directory may be offered that lies so many names down.
const CONTAINERS: &[(&str, usize)] = &[
    ("home", 3),
    ("users", 3),
    ("usr", 3),
    ("media", 2),
    ("mnt", 2),
    ("opt", 2),
    ("srv", 2),
    ("tmp", 2),
    ("volumes", 2),
];

/// Returns `true` if a rule for a directory and all below it may be offered: no directory of the system, no home,
/// nothing hidden in a home, and nothing above the home or the workspace.
pub(super) fn may_be_offered(directory: &Path, workspace: &Workspace) -> bool {
    if workspace.roots().any(|root| root.starts_with(directory)) {
        return false;
    }
    let of_drive = |name: &String| !name.contains([':', '\\']);
    let names: Vec<String> = names(directory).iter().map(|name| name.to_lowercase()).filter(of_drive).collect();
    let Some(first) = names.first() else { return false };
    let hidden = |name: &str| name.starts_with('.') || matches!(name, "library" | "appdata");
    let below_home = workspace.home().and_then(|home| directory.strip_prefix(home).ok());
    if let Some(below) = below_home {
        let mut below = below.components();
        return below.next().is_some_and(|name| !hidden(&name.as_os_str().to_string_lossy().to_lowercase()));
    }
    let depth = CONTAINERS.iter().find(|(name, _)| name == first).map_or(1, |(_, depth)| *depth);
    !SYSTEM.contains(&first.as_str()) && names.len() >= depth && !names.iter().any(|name| hidden(name))
}

#[cfg(test)]
mod tests {
    use super::may_be_offered;
    use crate::config::PolicyConfig;
    use crate::workspace::Workspace;
    use std::path::Path;

    #[test]
    fn no_directory_of_the_system_and_no_home_is_offered() {
        let workspace = Workspace::new(PolicyConfig::new("/srv/work/a").with_home(Some("/home/u".into())));
        for directory in [
            "/",
            "/proc",
            "/proc/1",
            "/etc",
            "/etc/ssl",
            "/usr",
            "/usr/bin",
            "/usr/lib",
            "/home",
            "/home/u",
            "/home/v",
            "/root/x",
            "/var/log",
            "/dev/shm",
            "/sys/class",
            "/tmp",
            "/opt",
            "/srv",
            "/srv/work",
            "/srv/work/a",
            "/home/u/.ssh",
            "/home/u/.config/tool",
            "/home/u/Library/x",
            "/Users",
            "/Users/me",
            "/private/etc",
            "/opt/x/.secret",
        ] {
            assert!(!may_be_offered(Path::new(directory), &workspace), "{directory}");
        }
        for directory in [
            "/opt/x",
            "/home/u/notes",
            "/home/u/src/other",
            "/usr/include/openssl",
            "/tmp/build",
            "/data",
            "/srv/other",
        ] {
            assert!(may_be_offered(Path::new(directory), &workspace), "{directory}");
        }
    }
}
