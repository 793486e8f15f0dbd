//! Programs for which a prefix rule gives no more than the project's own files do already.
//!
//! A positive list: a program that is not here gets a rule for its exact text. Programs of the option tables (those
//! that read, write or connect) are never here, which a test checks.

/// Programs that run commands from the project's files, without sub-commands: the next word is a target or a file.
pub(super) const FLAT: &[&str] = &[
    "ant",
    "black",
    "clang-format",
    "clang-tidy",
    "cppcheck",
    "eslint",
    "flake8",
    "gofmt",
    "goimports",
    "gradle",
    "hadolint",
    "isort",
    "jest",
    "just",
    "make",
    "mocha",
    "mvn",
    "mypy",
    "ninja",
    "nox",
    "phpstan",
    "phpunit",
    "prettier",
    "pylint",
    "pyright",
    "pytest",
    "rake",
    "rspec",
    "rubocop",
    "rustfmt",
    "sbt",
    "shellcheck",
    "shfmt",
    "staticcheck",
    "tox",
    "tsc",
    "vitest",
];

/// Sub-commands that build, check, test, install or only read, by program. A second word in an entry is a sub-command
/// of the first; `*` there matches any plain word, such as the name of a script.
const SUB_COMMANDS: &[(&str, &[&str])] = &[
    ("bazel", &["build", "query", "run", "test"]),
    ("bun", &["add", "build", "install", "run *", "test"]),
    ("bundle", &["add", "check", "install", "outdated", "update"]),
    (
        "cargo",
        &[
            "add",
            "audit",
            "bench",
            "build",
            "check",
            "clean",
            "clippy",
            "deny",
            "doc",
            "fetch",
            "fix",
            "fmt",
            "generate-lockfile",
            "metadata",
            "nextest *",
            "remove",
            "run",
            "test",
            "tree",
            "update",
            "vendor",
            "xtask *",
        ],
    ),
    ("composer", &["dump-autoload", "install", "require", "run *", "test", "update", "validate"]),
    ("dart", &["analyze", "fix", "format", "pub *", "test"]),
    ("deno", &["check", "fmt", "lint", "task *", "test"]),
    (
        "docker",
        &[
            "compose build",
            "compose config",
            "compose down",
            "compose images",
            "compose logs",
            "compose ps",
            "compose pull",
            "compose restart",
            "compose start",
            "compose stop",
            "compose up",
            "images",
            "ps",
        ],
    ),
    ("dotnet", &["build", "clean", "format", "restore", "test"]),
    ("flutter", &["analyze", "build *", "pub *", "test"]),
    (
        "gh",
        &[
            "issue list",
            "issue status",
            "issue view",
            "pr checks",
            "pr diff",
            "pr list",
            "pr status",
            "pr view",
            "release list",
            "release view",
            "repo view",
            "run list",
            "run view",
            "run watch",
        ],
    ),
    ("go", &["build", "doc", "fmt", "generate", "get", "list", "mod *", "test", "tool *", "vet", "work *"]),
    ("golangci-lint", &["run"]),
    ("mix", &["compile", "credo", "deps.get", "format", "test"]),
    (
        "npm",
        &[
            "add",
            "audit",
            "ci",
            "dedupe",
            "i",
            "install",
            "list",
            "ls",
            "outdated",
            "prune",
            "rebuild",
            "run *",
            "run-script *",
            "start",
            "stop",
            "t",
            "test",
            "uninstall",
            "update",
        ],
    ),
    ("pip", &["check", "freeze", "install", "list", "show", "uninstall"]),
    ("pip3", &["check", "freeze", "install", "list", "show", "uninstall"]),
    ("playwright", &["test"]),
    (
        "pnpm",
        &[
            "add", "audit", "build", "i", "install", "lint", "list", "ls", "outdated", "prune", "remove", "run *",
            "start", "test", "update",
        ],
    ),
    ("poetry", &["add", "build", "check", "install", "lock", "remove", "show", "update"]),
    ("ruff", &["check", "format"]),
    ("rustup", &["component *", "show", "target *", "toolchain *", "update"]),
    ("stack", &["build", "test"]),
    ("swift", &["build", "package *", "test"]),
    ("uv", &["add", "build", "lock", "remove", "sync", "tree"]),
    ("yarn", &["add", "build", "install", "lint", "list", "remove", "run *", "start", "test", "why"]),
    ("zig", &["build", "fmt", "test"]),
    ("git", GIT),
];

/// Sub-commands of git of which no option names a program, a template or another address. A test asks the git that is
/// installed.
const GIT: &[&str] = &[
    "add",
    "branch",
    "checkout",
    "commit",
    "mv",
    "restore",
    "rm",
    "stash apply",
    "stash drop",
    "stash list",
    "stash pop",
    "stash push",
    "stash show",
    "switch",
    "tag",
    "worktree add",
    "worktree list",
    "worktree prune",
    "worktree remove",
];

/// Words behind which the program to run stands.
const LAUNCHERS: &[&[&str]] = &[
    &["bundle", "exec"],
    &["bunx"],
    &["npm", "exec"],
    &["npx"],
    &["pdm", "run"],
    &["pipenv", "run"],
    &["pnpm"],
    &["pnpm", "dlx"],
    &["pnpm", "exec"],
    &["poetry", "run"],
    &["rye", "run"],
    &["uv", "run"],
    &["uvx"],
    &["yarn"],
    &["yarn", "dlx"],
    &["yarn", "exec"],
];

/// Interpreters: words behind a script are that script's.
pub(super) const INTERPRETERS: &[&str] = &["node", "perl", "php", "python", "python3", "ruby"];

/// Returns the number of words of a launcher before the program that it runs.
pub(super) fn launcher_words(words: &[&str]) -> Option<usize> {
    let fits = |launcher: &&&[&str]| words.starts_with(launcher) && words.len() > launcher.len();
    let longest = LAUNCHERS.iter().filter(fits).map(|launcher| launcher.len()).max()?;
    // `pnpm install` is a sub-command of the launcher, `pnpm vitest` a program.
    (longest > 1 || tool_words(words).is_none()).then_some(longest)
}

/// Returns the number of words of a tool and its sub-command, and of the target of a tool without sub-commands.
pub(super) fn tool_words(words: &[&str]) -> Option<usize> {
    let (program, args) = words.split_first()?;
    if FLAT.contains(program) {
        return Some(args.len().saturating_add(1).min(2));
    }
    let (_, known) = SUB_COMMANDS.iter().find(|(name, _)| name == program)?;
    let words_of = |entry: &&str| {
        let names: Vec<&str> = entry.split(' ').collect();
        let fits = args.len() >= names.len() && names.iter().zip(args).all(|(name, arg)| *name == "*" || name == arg);
        fits.then_some(names.len().saturating_add(1))
    };
    known.iter().filter_map(words_of).max()
}

/// Every program of the tables.
#[cfg(test)]
pub(super) fn programs() -> impl Iterator<Item = &'static str> {
    FLAT.iter().copied().chain(SUB_COMMANDS.iter().map(|(program, _)| *program))
}

#[cfg(test)]
pub(super) const GIT_SUB_COMMANDS: &[&str] = GIT;
