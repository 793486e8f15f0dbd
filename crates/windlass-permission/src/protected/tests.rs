use super::*;

#[test]
fn protected_names_are_found_in_every_spelling() {
    for path in [
        "/w/.git/config",
        "/w/.git",
        "/w/sub/nested/.git/hooks/pre-commit",
        "/w/.GIT/config",
        "/w/.Git./config",
        "/w/.git /config",
        "/w/.git::$INDEX_ALLOCATION/config",
        "/w/GIT~1/config",
        "/w/claude~2/settings.json",
        "/w/.g\u{200c}it/config",
        "/w/.\u{ff47}it/config",
        "/w/.hu\u{17f}ky/pre-commit",
        "/w/.hus\u{212a}y/pre-commit",
        "/w/.claude/settings.json",
        "/w/.claude/worktreesx",
        "/w/.windlass/settings.json",
        "/w/.mcp.json",
        "/w/.MCP.JSON",
        "/home/u/.bashrc",
        "/home/u/.ssh/authorized_keys",
        "/home/u/.config/git/config",
        "/w/.yarnrc.yml",
        "/w/.pnp.data.json",
        "/w/gradle/wrapper/gradle-wrapper.properties",
        "/w/.claude/worktrees/a/.git",
        // A tree in place of a file.
        "/w/.bashrc/x",
        "/w/.bash_x",
        "/w/BASHRC~1",
        "/home/u/.config",
        "/w/.hg/hgrc",
        "/w/.jj/repo/config.toml",
        "/w/.agents/skills/x/SKILL.md",
        "/w/lefthook-local.yaml",
        "/w/.lefthook.toml",
        "/w/.pre-commit-config.yml",
        "/w/.zed/tasks.json",
        "/w/mise.toml",
        "/w/.mise.local.toml",
        "/w/.direnvrc",
        "/w/x.code-workspace",
        "/w/X.Code-Workspace",
        "/w/.exrc",
        "/w/.opencode/agent/x.md",
        "/w/.kiro/hooks/x.json",
        "/w/.roo/mcp.json",
        "/w/crush.json",
        "/w/rust-toolchain",
        "/w/sub/Rust-Toolchain",
        "/w/rust-toolchain.toml",
        "/etc/cron.d/x",
        "/etc/crontab",
        "/var/spool/cron/crontabs/u",
        "/etc/profile.d/x.sh",
        "/etc/systemd/system/x.service",
    ] {
        assert!(protected_name(Path::new(path)).is_some(), "{path}");
    }
}

#[test]
fn names_that_only_look_like_protected_ones_are_free() {
    for path in [
        "/w/src/lib.rs",
        "/w/etc/cron.d/x",
        "/w/rust-toolchains/x",
        "/etc/hosts",
        "/w/.gitignore",
        "/w/.github/workflows/ci.yml",
        "/w/git/config",
        "/w/.claude/worktrees/a/src/x",
        "/w/.config/app.toml",
        "/w/.env",
        "/w/a~1.txt",
        "/w/git~",
        "/w/git~x",
        "/w/~1",
        "/w/CLAUDE.md",
        "/w/bashrc",
        "/w/mise.lock",
        "/w/agents/x.md",
        "/w/code-workspace.md",
        "/w/src/head.rs",
        "/w/lefthook.md",
    ] {
        assert_eq!(protected_name(Path::new(path)), None, "{path}");
    }
}

#[test]
fn files_of_programs_that_run_what_they_find_are_protected() {
    for path in [
        "/w/.tool-versions",
        "/w/.Rprofile",
        "/w/.crush.json",
        "/w/.opencode.json",
        "/w/.helix/languages.toml",
        "/w/.lintstagedrc.js",
        "/home/u/.local/bin/ls",
        "/home/u/.config/nvim/init.lua",
    ] {
        assert!(protected_name(Path::new(path)).is_some(), "{path}");
    }
}

#[test]
fn patterns_that_could_be_protected() {
    for pattern in [".*", ".g*/config", ".[a-z]*", "b*", "*", "x/.b?shrc", "*.code-workspace", "x?-workspace"] {
        assert!(pattern_may_be_protected(pattern), "{pattern}");
    }
    for pattern in ["*.rs", "src/*.log", ".tmp*", "x"] {
        assert!(!pattern_may_be_protected(pattern), "{pattern}");
    }
}

#[test]
fn each_protected_name_has_a_dot() {
    let nested = NESTED.iter().map(|(above, _)| above);
    for name in DIRECTORIES.iter().chain(FILES).chain(PREFIXES).chain(SUFFIXES).chain(nested) {
        assert!(!has_no_protected_name(name), "{name}");
    }
    assert!(!has_no_protected_name("git~1"));
    assert!(!has_no_protected_name("\u{ff0e}git"));
}

#[test]
fn a_pattern_that_begins_with_a_letter_is_compared_with_the_names_that_do() {
    for (pattern, expected) in [
        ("p*config.json", true),
        ("PYRIGHT*.json", true),
        ("l?fthook.yml", true),
        ("src/b*.toml", true),
        ("a*", false),
        ("git*", false),
        ("{x,bunfig}.t*", true),
        ("\\bunfig.t*", true),
        ("x{y,z}*", false),
        // An unreadable pattern may be any protected name.
        ("x[[:alpha:]]*", true),
    ] {
        assert_eq!(pattern_may_be_protected(pattern), expected, "{pattern}");
    }
}

/// Each is below a project, and of a repository only the files that make git run programs.
#[test]
fn a_sandbox_protects_the_names_and_of_repositories_what_runs_programs() {
    let names: Vec<PathBuf> = protected_names().collect();
    for name in [".claude", ".bashrc", ".git/config", ".git/hooks", ".mcp.json"] {
        assert!(names.contains(&PathBuf::from(name)), "{name}");
    }
    for (above, name) in NESTED {
        assert!(names.contains(&Path::new(above).join(name)), "{above}/{name}");
    }
    for name in ["", ".git", ".hg", ".jj"] {
        assert!(!names.contains(&PathBuf::from(name)), "{name:?}");
    }
}
