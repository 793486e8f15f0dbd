//! Protected names: writing there always needs a question of its own.
//!
//! The files in these places decide which programs run later, or which calls the harness itself allows: repository
//! internals, configuration of agents, editors and package managers, start-up files of shells.

use crate::path::{fold_char, is_ignorable};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use unicode_normalization::UnicodeNormalization as _;

/// Everything below a directory of such a name is protected.
const DIRECTORIES: &[&str] = &[
    ".agent",
    ".agents",
    ".amazonq",
    ".amp",
    ".augment",
    ".aws",
    ".cargo",
    ".claude",
    ".clinerules",
    ".codeium",
    ".codex",
    ".continue",
    ".crush",
    ".cursor",
    ".devcontainer",
    ".emacs.d",
    ".factory",
    ".fleet",
    ".gemini",
    ".git",
    ".gnupg",
    ".goose",
    ".helix",
    ".hg",
    ".husky",
    ".idea",
    ".ipython",
    ".jj",
    ".junie",
    ".kilocode",
    ".kiro",
    ".kube",
    ".lefthook",
    ".lefthook-local",
    ".mise",
    ".mvn",
    ".nova",
    ".opencode",
    ".openhands",
    ".qwen",
    ".roo",
    ".ssh",
    ".trae",
    ".trunk",
    ".vim",
    ".vs",
    ".vscode",
    ".windlass",
    ".windsurf",
    ".yarn",
    ".zed",
];

/// Directories of repositories. Of these a sandbox protects only the parts that make programs run, since each commit
/// changes the rest.
pub const REPOSITORY_DIRECTORIES: &[&str] = &[".git", ".hg", ".jj"];

/// Directories below a certain other one.
const NESTED: &[(&str, &str)] = &[
    (".config", "autostart"),
    (".config", "emacs"),
    (".config", "environment.d"),
    (".config", "fish"),
    (".config", "git"),
    (".config", "helix"),
    (".config", "hg"),
    (".config", "jj"),
    (".config", "mise"),
    (".config", "nvim"),
    (".config", "powershell"),
    (".config", "systemd"),
    (".config", "tmux"),
    (".config", "vim"),
    (".config", "windlass"),
    (".config", "zsh"),
    (".gradle", "init.d"),
    (".local", "bin"),
];

const FILES: &[&str] = &[
    ".aider.conf.yml",
    ".autoenv",
    ".autoenv.zsh",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazelrc",
    ".bazelversion",
    ".claude.json",
    ".crush.json",
    ".cshrc",
    ".curlrc",
    ".devcontainer.json",
    ".dir-locals-2.el",
    ".dir-locals.el",
    ".direnvrc",
    ".emacs",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".gitattributes",
    ".gitconfig",
    ".gitmodules",
    ".gvimrc",
    ".hgrc",
    ".inputrc",
    ".irbrc",
    ".kshrc",
    ".lefthook.json",
    ".lefthook.toml",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".lessfilter",
    ".lldbinit",
    ".login",
    ".luarc.json",
    ".luarc.jsonc",
    ".lvimrc",
    ".mailcap",
    ".mcp.json",
    ".mise.local.toml",
    ".mise.toml",
    ".neoconf.json",
    ".netrc",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".opencode.json",
    ".opencode.jsonc",
    ".overcommit.yml",
    ".pam_environment",
    ".pdbrc",
    ".pnp.cjs",
    ".pnp.js",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".pre-commit-hooks.yaml",
    ".profile",
    ".pryrc",
    ".psqlrc",
    ".pypirc",
    ".renviron",
    ".ripgreprc",
    ".roomodes",
    ".rprofile",
    ".rtx.toml",
    ".screenrc",
    ".simple-git-hooks.cjs",
    ".simple-git-hooks.js",
    ".simple-git-hooks.json",
    ".sqliterc",
    ".tcshrc",
    ".tmux.conf",
    ".tool-versions",
    ".vimrc",
    ".wgetrc",
    ".windlass.json",
    ".xinitrc",
    ".xprofile",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bunfig.toml",
    "crush.json",
    "gradle-wrapper.properties",
    "lefthook-local.json",
    "lefthook-local.toml",
    "lefthook-local.yaml",
    "lefthook-local.yml",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "maven-wrapper.properties",
    "mise.local.toml",
    "mise.toml",
    "opencode.json",
    "opencode.jsonc",
    "prek.toml",
    "pyrightconfig.json",
    "rust-toolchain",
    "rust-toolchain.toml",
    "simple-git-hooks.cjs",
    "simple-git-hooks.js",
    "simple-git-hooks.json",
];

/// Protected files with names like those of others: a pattern means them only if it begins with so many letters.
const PLAIN_FILES: &[&str] = &["crush.json", "rust-toolchain", "rust-toolchain.toml"];
const LEAST_START: usize = 3;

/// Places of the system that decide what runs later, by whom and when. Everything below is protected.
const SYSTEM: &[&str] = &[
    "/etc/apt/apt.conf.d",
    "/etc/bash.bashrc",
    "/etc/cron.d",
    "/etc/cron.daily",
    "/etc/cron.hourly",
    "/etc/cron.monthly",
    "/etc/cron.weekly",
    "/etc/crontab",
    "/etc/environment",
    "/etc/init.d",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/pam.d",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/rc.local",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/systemd",
    "/etc/udev/rules.d",
    "/etc/xdg/autostart",
    "/etc/zsh",
    "/lib/systemd",
    "/usr/lib/systemd",
    "/var/spool/at",
    "/var/spool/cron",
];

/// The place of the system that an absolute path is, or lies below.
fn system_place(path: &Path) -> Option<String> {
    let place = SYSTEM.iter().find(|place| path.starts_with(place))?;
    Some((*place).to_owned())
}

/// Names that begin like this are protected too.
const PREFIXES: &[&str] = &[".pnp.", ".yarnrc", ".bash_", ".zsh_", ".huskyrc", ".lintstagedrc", "lint-staged.config."];

/// Names that end like this are protected too: workspaces of editors, with their tasks.
const SUFFIXES: &[&str] = &[".code-workspace", ".sublime-project"];

/// Parts of a repository that make programs run. The rest of it changes with each commit.
const OF_REPOSITORIES: &[&str] = &[
    ".git/commondir",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/info/attributes",
    ".git/modules",
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".hg/sharedpath",
    ".jj/repo/config.toml",
    ".jj/repo/store/git_target",
    ".jj/workspace-config.toml",
];

/// Returns the paths that a sandbox protects in a project, relative to it: the names that always need a permission
/// request, but of a repository only the files that make git run programs.
pub fn protected_names() -> impl Iterator<Item = PathBuf> {
    let nested = NESTED.iter().map(|(above, name)| Path::new(above).join(name));
    let names =
        DIRECTORIES.iter().chain(FILES).filter(|name| !REPOSITORY_DIRECTORIES.contains(name)).chain(OF_REPOSITORIES);
    names.map(PathBuf::from).chain(nested)
}

/// Returns the name that protects a path, if one does.
pub(crate) fn protected_name(path: &Path) -> Option<String> {
    if let Some(place) = system_place(path) {
        return Some(place);
    }
    if path.to_str().is_some_and(has_no_protected_name) {
        return None;
    }
    let names = crate::path::names(path);
    protected_among(&names.iter().map(|name| spelling(name)).collect::<Vec<_>>())
}

/// Returns the protected name in the text of an argument, which may be a path under any base or contain one after an
/// `=`.
pub(crate) fn protected_in_text(text: &str) -> Option<String> {
    let absolute = || {
        text.split(['=', ',']).find_map(|part| system_place(&crate::path::normalize(Path::new("/"), Path::new(part))))
    };
    if let Some(place) =
        text.contains("/etc/").then(absolute).flatten().or_else(|| text.contains("/spool/").then(absolute).flatten())
    {
        return Some(place);
    }
    if has_no_protected_name(text) {
        return None;
    }
    let names: Vec<Cow<'_, str>> =
        text.split(['/', '\\', '=', ':', ',', '@', ';']).filter(|name| !name.is_empty()).map(spelling).collect();
    protected_among(&names)
}

/// Returns `true` if no spelling of a protected name can be in a text: each has a dot, or is a short name with a tilde, but for one.
fn has_no_protected_name(text: &str) -> bool {
    let has_sign = text.bytes().any(|byte| !byte.is_ascii() || matches!(byte, b'.' | b'~'));
    let has_name = || text.as_bytes().windows(WITHOUT_DOT.len()).any(|part| part.eq_ignore_ascii_case(WITHOUT_DOT));
    !has_sign && !has_name()
}

/// The protected name that has no dot.
const WITHOUT_DOT: &[u8] = b"rust-toolchain";

fn protected_among(names: &[Cow<'_, str>]) -> Option<String> {
    let mut below: Option<&str> = None;
    for (index, name) in names.iter().enumerate() {
        let last = names.get(index.saturating_add(1)).is_none();
        let worktree = matches!(name.as_ref(), ".claude" | ".windlass")
            && names.get(index.saturating_add(1)).is_some_and(|n| n == "worktrees");
        let nested = below.is_some_and(|above| NESTED.iter().any(|(a, b)| *a == above && b == name));
        if nested || (!worktree && is_protected_directory(name)) || (last && is_protected_file(name)) {
            return Some(name.to_string());
        }
        // A file's name as a directory: replacing the file by a tree, or reading through a link.
        if !last && FILES.contains(&name.as_ref()) {
            return Some(name.to_string());
        }
        below = Some(name);
    }
    None
}

/// Returns `true` if a file name pattern, as the shell expands it, could match a protected name.
pub(crate) fn pattern_may_be_protected(pattern: &str) -> bool {
    pattern.split('/').filter(|part| part.contains(['*', '?', '['])).any(|part| {
        // `*.code-workspace`; a shorter end is that of too many other names.
        let end = part.rsplit(['*', '?', ']']).next().unwrap_or_default();
        if end.len() > 4 && SUFFIXES.iter().any(|suffix| suffix.ends_with(end) || end.ends_with(suffix)) {
            return true;
        }
        // A readable pattern that begins with a letter matches only names that begin with it.
        let letter = part.chars().next().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
        let begins = |name: &&&str| letter.is_none_or(|letter| name.starts_with(letter));
        let names = DIRECTORIES.iter().chain(FILES).chain(NESTED.iter().map(|(above, _)| above));
        let start = part.split(['*', '?', '[']).next().unwrap_or_default().len();
        let is_meant = |name: &&&str| start >= LEAST_START || !PLAIN_FILES.contains(name);
        let mut all = names.filter(begins).filter(is_meant).peekable();
        if all.peek().is_none() && !part.contains(['{', '}', '[', '\\']) {
            return false;
        }
        let Ok(globs) = crate::glob::Glob::parse(part, true) else { return true };
        // The shell's patterns do not match a leading dot unless they write it.
        all.any(|name| {
            (part.starts_with('.') || !name.starts_with('.'))
                && globs.iter().any(|glob| glob.reach([*name]) == crate::glob::Reach::Covers)
        })
    })
}

fn is_protected_directory(name: &str) -> bool {
    DIRECTORIES.contains(&name) || is_short_name_of(name, DIRECTORIES)
}

fn is_protected_file(name: &str) -> bool {
    FILES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
        || is_short_name_of(name, FILES)
        || name == ".config" // replacing it by a link moves what is below it
}

/// Returns a folded name without the characters that file systems ignore at its end.
fn spelling(name: &str) -> Cow<'_, str> {
    match name {
        plain if plain.is_ascii() && !plain.bytes().any(|byte| byte.is_ascii_uppercase()) => without_end(plain).into(),
        ascii if ascii.is_ascii() => without_end(&ascii.to_ascii_lowercase()).to_owned().into(),
        other => {
            let folded: String = other.nfkc().filter(|c| !is_ignorable(*c)).flat_map(fold_char).collect();
            without_end(&folded).to_owned().into()
        }
    }
}

fn without_end(name: &str) -> &str {
    let end = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    if end.is_empty() { name } else { end }
}

/// Returns `true` for a short name such as `GIT~1` for `.git`: up to six letters of the name without its dots, a tilde
/// and a number.
fn is_short_name_of(name: &str, long_names: &[&str]) -> bool {
    let Some((stem, number)) = name.split_once('~') else { return false };
    let number = number.split('.').next().unwrap_or(number);
    if stem.is_empty() || number.is_empty() || !number.chars().all(|c| c.is_ascii_digit()) {
        return false;
    }
    long_names.iter().any(|long| {
        let base = long.strip_prefix('.').unwrap_or(long);
        let base = base.rsplit_once('.').map_or(base, |(base, _)| base);
        let short: String = base.chars().filter(|c| !matches!(c, '.' | ' ')).take(6).collect();
        short == stem
    })
}

#[cfg(test)]
mod tests;
