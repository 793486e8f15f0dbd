//! Programs that run the commands in files of fixed names, or in the file of an option.

/// A program that reads its commands from files of fixed names.
pub(super) struct Runner {
    pub(super) names: &'static [&'static str],
    pub(super) files: &'static [&'static str],
    /// Options whose value is the file.
    pub(super) file_options: &'static [&'static str],
    /// Options whose value is the directory of the files.
    pub(super) directory_options: &'static [&'static str],
    /// First words with which it reads none of them.
    pub(super) other_words: &'static [&'static str],
}

/// Words with which package managers run no script of the project.
const PACKAGE_WORDS: &[&str] = &[
    "add",
    "audit",
    "bunx",
    "cache",
    "config",
    "create",
    "dlx",
    "exec",
    "info",
    "init",
    "link",
    "list",
    "ls",
    "outdated",
    "pm",
    "publish",
    "remove",
    "rm",
    "uninstall",
    "update",
    "upgrade",
    "view",
    "why",
    "x",
];

pub(super) const RUNNERS: &[Runner] = &[
    Runner {
        names: &["make", "gmake", "bmake"],
        files: &["GNUmakefile", "makefile", "Makefile"],
        file_options: &["-f", "--file", "--makefile"],
        directory_options: &["-C", "--directory"],
        other_words: &[],
    },
    Runner {
        names: &["just"],
        files: &["justfile", "Justfile", ".justfile"],
        file_options: &["-f", "--justfile"],
        directory_options: &["-d", "--working-directory"],
        other_words: &[],
    },
    Runner {
        names: &["task", "go-task"],
        files: &["Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"],
        file_options: &["-t", "--taskfile"],
        directory_options: &["-d", "--dir"],
        other_words: &[],
    },
    Runner {
        names: &["npm", "pnpm", "yarn", "yarnpkg", "bun"],
        files: &["package.json"],
        file_options: &[],
        directory_options: &["--prefix", "-C", "--dir", "--cwd"],
        other_words: PACKAGE_WORDS,
    },
    Runner {
        names: &["deno"],
        files: &["deno.json", "deno.jsonc"],
        file_options: &["-c", "--config"],
        directory_options: &["--cwd"],
        other_words: &["fmt", "lint", "check", "info"],
    },
    Runner {
        names: &["rake"],
        files: &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"],
        file_options: &["-f", "--rakefile"],
        directory_options: &["-C", "--directory"],
        other_words: &[],
    },
    Runner {
        names: &["gulp", "grunt"],
        files: &["gulpfile.js", "gulpfile.mjs", "gulpfile.ts", "Gruntfile.js"],
        file_options: &["-f", "--gulpfile", "--gruntfile"],
        directory_options: &["--cwd", "--base"],
        other_words: &[],
    },
    Runner {
        names: &["composer"],
        files: &["composer.json"],
        file_options: &[],
        directory_options: &["-d", "--working-dir"],
        other_words: &["config", "diagnose", "info", "show"],
    },
    Runner {
        names: &["nox", "tox", "invoke", "inv"],
        files: &["noxfile.py", "tox.ini", "tasks.py"],
        file_options: &["-f", "--noxfile", "-c", "--conf"],
        directory_options: &["-r", "--search-root"],
        other_words: &[],
    },
    Runner {
        names: &["lerna", "lint-staged", "nx", "turbo", "wireit"],
        files: &["package.json"],
        file_options: &["-c", "--config"],
        directory_options: &["--cwd"],
        other_words: &[],
    },
    Runner {
        names: &["gradle", "gradlew"],
        files: &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        file_options: &["-b", "--build-file", "-I", "--init-script"],
        directory_options: &["-p", "--project-dir"],
        other_words: &[],
    },
    Runner {
        names: &["mvn", "mvnw"],
        files: &["pom.xml"],
        file_options: &["-f", "--file"],
        directory_options: &[],
        other_words: &[],
    },
    Runner {
        names: &["ant"],
        files: &["build.xml"],
        file_options: &["-f", "-file", "-buildfile"],
        directory_options: &[],
        other_words: &[],
    },
    Runner {
        names: &["fab", "mage", "mask", "mix", "poe", "scons", "thor"],
        files: &["SConstruct", "Thorfile", "fabfile.py", "magefile.go", "maskfile.md", "mix.exs", "pyproject.toml"],
        file_options: &["-f", "--file", "--maskfile"],
        directory_options: &["-C", "-d", "--directory"],
        other_words: &[],
    },
];

/// Programs that start another one among their words.
pub(super) const PACKAGE_TOOLS: &[&str] =
    &["bun", "bunx", "hatch", "npm", "npx", "pdm", "pipx", "pnpm", "pnpx", "rye", "uv", "uvx", "yarn", "yarnpkg"];
/// Programs that run the file of `-f`.
pub(super) const FILE_SCRIPTS: &[&str] = &["awk", "gawk", "gsed", "jq", "mawk", "nawk", "psql", "sed"];
/// Programs of which options name a file that they run.
pub(super) const EDITORS: &[&str] = &["emacs", "ex", "gdb", "lldb", "nvim", "vi", "vim"];
