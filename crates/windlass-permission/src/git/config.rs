//! The configuration of a repository.

/// Maximum number of bytes of a configuration that is read.
const MAX_CONFIG: usize = 256 * 1024;

/// Further facts needed about an inert configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GitConfig {
    /// Bytes of an object's name.
    pub hash_bytes: usize,
}

/// Reads the configuration of a repository. `None`, unless each of its keys is known to run no program and to refer to
/// no other place. Only the syntax that git itself writes is understood.
#[must_use]
pub fn inert_config(bytes: &[u8]) -> Option<GitConfig> {
    if bytes.len() > MAX_CONFIG {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let mut config = GitConfig { hash_bytes: 20 };
    let mut section: Option<Section<'_>> = None;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.chars().any(|c| c.is_control() && c != '\t') || line.ends_with('\\') {
            return None;
        }
        let line = line.trim_matches([' ', '\t']);
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') {
            section = Some(Section::parse(line)?);
            continue;
        }
        let (key, value) = entry(line)?;
        let section = section.as_ref()?;
        if !section.allows(&key, value) {
            return None;
        }
        if section.name == "extensions" && key == "objectformat" {
            config.hash_bytes = if value == Some("sha256") { 32 } else { 20 };
        }
    }
    Some(config)
}

/// `[name]` or `[name "subsection"]`.
struct Section<'a> {
    name: String,
    subsection: Option<&'a str>,
}

impl<'a> Section<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let inner = line.strip_prefix('[')?.strip_suffix(']')?;
        let (name, subsection) = match inner.split_once([' ', '\t']) {
            None => (inner, None),
            Some((name, rest)) => {
                let quoted = rest.trim_start_matches([' ', '\t']);
                let subsection = quoted.strip_prefix('"')?.strip_suffix('"')?;
                // An escape there could end it for one reader and not for the other.
                if subsection.contains(['"', '\\', '[', ']']) {
                    return None;
                }
                (name, Some(subsection))
            }
        };
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        plain.then(|| Self { name: name.to_ascii_lowercase(), subsection })
    }

    fn allows(&self, key: &str, value: Option<&str>) -> bool {
        let own = |keys: &[&str]| keys.contains(&key);
        match (self.name.as_str(), self.subsection) {
            ("branch", Some(_)) => true,
            ("remote", Some(_)) => match key {
                "url" | "pushurl" => value.is_some_and(is_plain_url),
                _ => own(&[
                    "fetch",
                    "mirror",
                    "prune",
                    "prunetags",
                    "push",
                    "skipdefaultupdate",
                    "tagopt",
                    "gh-resolved",
                ]),
            },
            ("submodule", Some(_)) => match key {
                "url" => value.is_some_and(is_plain_url),
                _ => own(&["active", "branch"]),
            },
            ("extensions", None) => match key {
                "objectformat" => matches!(value, Some("sha1" | "sha256")),
                _ => own(&["refstorage"]),
            },
            ("core", None) if key == "bare" => value == Some("false"),
            ("branch" | "tag", None) if key == "sort" => value.is_some_and(is_plain_order),
            ("color" | "advice", _) => true,
            (name, None) => KEYS.iter().any(|(section, keys)| *section == name && own(keys)),
            _ => false,
        }
    }
}

/// Returns `true` if a list is sorted without reading signatures, which would run the program that checks them.
fn is_plain_order(value: &str) -> bool {
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':'));
    plain && !value.to_ascii_lowercase().contains("signature")
}

/// Keys by section that only switch output or storage of git, whatever their value.
const KEYS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "commitgraph",
            "compression",
            "eol",
            "filemode",
            "fscache",
            "hidedotfiles",
            "ignorecase",
            "ignorestat",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "multipackindex",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
        ],
    ),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    ("commit", &["cleanup", "gpgsign", "status", "verbose"]),
    (
        "diff",
        &[
            "algorithm",
            "colormoved",
            "colormovedws",
            "context",
            "indentheuristic",
            "interhunkcontext",
            "mnemonicprefix",
            "noprefix",
            "renamelimit",
            "renames",
            "statgraphwidth",
            "suppressblankempty",
            "wserrorhighlight",
        ],
    ),
    ("fetch", &["parallel", "prune", "prunetags", "writecommitgraph"]),
    ("gc", &["auto", "autodetach", "autopacklimit", "pruneexpire", "reflogexpire", "reflogexpireunreachable"]),
    ("init", &["defaultbranch"]),
    ("log", &["abbrevcommit", "date", "decorate", "follow", "mailmap", "showroot"]),
    ("maintenance", &["auto", "strategy"]),
    ("merge", &["autostash", "conflictstyle", "ff", "renamelimit", "renames", "stat"]),
    ("pull", &["ff", "octopus", "rebase", "twohead"]),
    ("push", &["autosetupremote", "default", "followtags", "gpgsign"]),
    ("rebase", &["abbreviatecommands", "autosquash", "autostash", "stat", "updaterefs"]),
    ("remote", &["pushdefault"]),
    ("rerere", &["autoupdate", "enabled"]),
    (
        "status",
        &[
            "aheadbehind",
            "branch",
            "displaycommentprefix",
            "relativepaths",
            "renamelimit",
            "renames",
            "short",
            "showstash",
            "showuntrackedfiles",
        ],
    ),
    ("tag", &["gpgsign", "sort"]),
    ("user", &["email", "name", "signingkey", "useconfigonly"]),
];

/// Returns a key in lower case and its value, as written: quotes and comments still in it.
fn entry(line: &str) -> Option<(String, Option<&str>)> {
    let (key, value) = match line.split_once('=') {
        None => (line, None),
        Some((key, value)) => (key.trim_end_matches([' ', '\t']), Some(value.trim_start_matches([' ', '\t']))),
    };
    let begins = key.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = begins && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    plain.then(|| (key.to_ascii_lowercase(), value))
}

/// Returns `true` for an address that git itself contacts, or a path. Not one that names a program to run.
fn is_plain_url(url: &str) -> bool {
    !url.is_empty() && !url.starts_with('-') && !url.contains('"') && !url.contains("::")
}

#[cfg(test)]
mod tests;
