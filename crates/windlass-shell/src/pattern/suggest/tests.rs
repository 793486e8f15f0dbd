use super::{suggest_rule, tools};
use crate::{analyse, is_judged_by_name};

fn rule(text: &str) -> Option<String> {
    suggest_rule(&analyse(text).understood().unwrap().commands()[0])
}

/// Programs of which an option, an operand or a small language runs, writes or contacts anything.
#[test]
fn programs_that_can_run_others_get_their_exact_text() {
    for text in [
        "git fetch origin",
        "git rebase origin/main",
        "git merge topic",
        "git clone https://example.com/a",
        "git stash",
        "git",
        "cargo",
        "ssh host uptime",
        "tar xf a.tar",
        "docker run image",
        "docker compose run web sh",
        "curl https://example.com/a",
        "less notes.md",
        "rsync a b",
        "go",
        "npm publish",
        "npm exec ssh",
        "npx ssh host",
        "pnpm rm",
        "uv run bash",
        "bundle exec ssh host",
        "npm run -s build",
        "uv run -q python x.py",
        "mytool sub",
        "/opt/bin/tool sub",
        "../tool sub",
        "bin/find x",
        "python3 /tmp/x.py",
        "vim notes.md",
        "gh api x",
        "gh pr merge 3",
        "sort -o out in",
    ] {
        assert_eq!(rule(text).as_deref(), Some(text));
    }
}

#[test]
fn tools_of_the_project_get_a_prefix() {
    for (text, expected) in [
        ("npx prettier --write a.ts", "npx prettier *"),
        ("bundle exec rspec spec/a_spec.rb", "bundle exec rspec *"),
        ("uv run pytest -q", "uv run pytest *"),
        ("uv run ruff check", "uv run ruff check *"),
        ("uv run main.py --port 1", "uv run main.py *"),
        ("pnpm vitest run a", "pnpm vitest *"),
        ("pnpm install", "pnpm install *"),
        ("yarn run lint", "yarn run lint *"),
        ("python3 setup.py build", "python3 setup.py *"),
        ("./gradlew test", "./gradlew test *"),
        ("bin/rails server -p 1", "bin/rails server *"),
        ("docker compose up -d", "docker compose up *"),
        ("git commit -m x", "git commit *"),
        ("git worktree add ../x", "git worktree add *"),
        ("gh pr view 12", "gh pr view *"),
        ("go mod tidy", "go mod tidy *"),
    ] {
        assert_eq!(rule(text).as_deref(), Some(expected), "{text}");
    }
}

/// The option tables list the effects of a program, so their programs need no prefix.
#[test]
fn no_program_of_the_option_tables_gets_a_prefix() {
    for program in tools::programs().filter(|program| *program != "git") {
        assert!(!is_judged_by_name(program), "{program}");
        assert!(!crate::scan::is_wrapper(program) && !crate::scan::SHELLS.contains(&program), "{program}");
    }
}

/// Asks the git that is installed: no option of these sub-commands takes a program, a template or a pack program.
#[test]
fn no_option_of_these_git_sub_commands_names_a_program() {
    let danger = ["<cmd>", "<exec>", "<command>", "<program>", "<strategy>", "<shell>", "-pack ", "<tool>", "<path>\n"];
    let mut seen = 0;
    for sub in tools::GIT_SUB_COMMANDS {
        let output = std::process::Command::new("git").args(sub.split(' ')).arg("-h").output();
        let Ok(output) = output else { continue };
        let usage = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        seen += usize::from(usage.contains("usage: git"));
        for option in usage.lines().filter(|line| line.trim_start().starts_with('-')) {
            assert!(!danger.iter().any(|word| option.contains(word)), "git {sub}: {option}");
        }
    }
    // The check itself finds the options.
    if let Ok(output) = std::process::Command::new("git").args(["rebase", "-h"]).output() {
        let usage = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(usage.contains("<exec>") && seen == tools::GIT_SUB_COMMANDS.len(), "{seen}: {usage}");
    }
}
