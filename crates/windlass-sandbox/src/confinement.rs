//! Steps that a helper takes before a program runs, and their form as arguments.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::{Ground, Network, SandboxPolicy};

/// First argument of a program that is started as the helper.
pub const HELPER_WORD: &str = "__windlass_sandbox";

/// Restrictions that the helper places on itself before it becomes the program. Passed as arguments, so that paths need
/// no encoding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Confinement {
    /// `true` if the helper creates namespaces: for mounts and, unless it is inside of others, for queues and (if that
    /// is not open) the network.
    pub(crate) namespaces: bool,
    /// `true` if the helper is inside of namespaces that bubblewrap has created: for processes, queues, the network,
    /// and also mounts unless the helper creates that one.
    pub(crate) inside: bool,
    /// `true` if the network is open.
    pub(crate) network: bool,
    pub(crate) unix_sockets: bool,
    /// Unix socket of the host at which the helper hands in a listener for the proxy.
    pub(crate) proxy: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) pins: Vec<PathBuf>,
    pub(crate) masks: Vec<PathBuf>,
    pub(crate) hidden_directories: Vec<PathBuf>,
    pub(crate) hidden_files: Vec<PathBuf>,
}

impl Confinement {
    pub(crate) fn new(policy: &SandboxPolicy, ground: &Ground, cwd: impl Into<PathBuf>) -> Self {
        Self {
            namespaces: false,
            inside: false,
            network: policy.network == Network::On,
            unix_sockets: policy.unix_sockets,
            proxy: None,
            cwd: cwd.into(),
            writable: ground.writable.clone(),
            pins: ground.pins.clone(),
            masks: ground.masks.clone(),
            hidden_directories: ground.hidden_directories.clone(),
            hidden_files: ground.hidden_files.clone(),
        }
    }

    /// `true` if mounts hide and protect paths, and the network is separate unless it is open.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is a helper on Linux alone"))]
    pub(crate) fn has_own_view(&self) -> bool {
        self.namespaces || self.inside
    }

    /// Returns the arguments: the word, the parts, `--`, and the program with its arguments.
    pub(crate) fn to_arguments(&self, program: &OsStr, arguments: &[OsString]) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![HELPER_WORD.into()];
        let switches = [
            ("--namespaces", self.namespaces),
            ("--inside", self.inside),
            ("--network", self.network),
            ("--unix-sockets", self.unix_sockets),
        ];
        all.extend(switches.iter().filter(|(_, on)| *on).map(|(name, _)| OsString::from(name)));
        let mut add = |name: &str, path: &PathBuf| all.extend([name.into(), path.clone().into_os_string()]);
        self.proxy.iter().for_each(|path| add("--proxy", path));
        add("--cwd", &self.cwd);
        for (name, paths) in self.lists() {
            paths.iter().for_each(|path| add(name, path));
        }
        all.extend(["--".into(), program.to_owned()]);
        all.extend(arguments.iter().cloned());
        all
    }

    fn lists(&self) -> [(&'static str, &Vec<PathBuf>); 5] {
        [
            ("--write", &self.writable),
            ("--pin", &self.pins),
            ("--mask", &self.masks),
            ("--hide-directory", &self.hidden_directories),
            ("--hide-file", &self.hidden_files),
        ]
    }

    /// Reads the output of [`to_arguments`](Self::to_arguments), without the word. The rest is the program with its
    /// arguments.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is a helper on Linux alone"))]
    pub(crate) fn from_arguments(
        mut arguments: impl Iterator<Item = OsString>,
    ) -> Result<(Self, Vec<OsString>), String> {
        let mut read = Self::default();
        while let Some(name) = arguments.next() {
            let name = name.to_str().ok_or("an option is no text")?.to_owned();
            match name.as_str() {
                "--namespaces" => read.namespaces = true,
                "--inside" => read.inside = true,
                "--network" => read.network = true,
                "--unix-sockets" => read.unix_sockets = true,
                "--" => {
                    let rest: Vec<OsString> = arguments.collect();
                    return if rest.is_empty() { Err("no program is named".to_owned()) } else { Ok((read, rest)) };
                }
                _ => {
                    let value = arguments.next().map(PathBuf::from).ok_or_else(|| format!("{name} lacks its value"))?;
                    match name.as_str() {
                        "--proxy" => read.proxy = Some(value),
                        "--cwd" => read.cwd = value,
                        "--write" => read.writable.push(value),
                        "--pin" => read.pins.push(value),
                        "--mask" => read.masks.push(value),
                        "--hide-directory" => read.hidden_directories.push(value),
                        "--hide-file" => read.hidden_files.push(value),
                        // An unknown part might have been a restriction.
                        _ => return Err(format!("{name} is not known")),
                    }
                }
            }
        }
        Err("no program is named".to_owned())
    }
}

#[cfg(test)]
mod tests;
