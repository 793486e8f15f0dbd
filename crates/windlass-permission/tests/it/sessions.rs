//! Remembered answers: over 200 everyday sessions in ten projects, a question that was answered with "always" does not
//! come again in its scope.

use crate::common::{Rules, World};
use std::collections::BTreeSet;
use windlass_types::{Behavior, PermissionUpdate, UpdateDestination};

/// Tools of a project: `{}` is the name of the session's subject.
struct Stack {
    name: &'static str,
    source: &'static str,
    build: &'static str,
    test_one: &'static str,
    test_all: &'static str,
    check: &'static str,
    format: &'static str,
    add: &'static str,
    start: &'static str,
}

const STACKS: [Stack; 10] = [
    Stack {
        name: "rust",
        source: "src/{}.rs",
        build: "cargo build",
        test_one: "cargo test {} -- --nocapture",
        test_all: "cargo test --workspace 2>&1 | tail -20",
        check: "cargo clippy --all-targets -- -D warnings",
        format: "cargo fmt",
        add: "cargo add {}",
        start: "cargo run -- --{}",
    },
    Stack {
        name: "npm",
        source: "src/{}.ts",
        build: "npm run build",
        test_one: "npm test -- {}",
        test_all: "npm test 2>&1 | tail -40",
        check: "npm run lint && npm run typecheck",
        format: "npx prettier --write src/{}.ts",
        add: "npm install {}",
        start: "npm start",
    },
    Stack {
        name: "pnpm",
        source: "packages/app/{}.tsx",
        build: "pnpm run build",
        test_one: "pnpm vitest run {}",
        test_all: "pnpm run test",
        check: "pnpm run lint && pnpm tsc --noEmit",
        format: "pnpm prettier --write packages/app/{}.tsx",
        add: "pnpm add {}",
        start: "pnpm run dev",
    },
    Stack {
        name: "python",
        source: "app/{}.py",
        build: "python3 setup.py build",
        test_one: "pytest tests/test_{}.py -q",
        test_all: "pytest -q 2>&1 | tail -30",
        check: "ruff check app && mypy app",
        format: "ruff format app",
        add: "pip install {}",
        start: "python3 main.py --{}",
    },
    Stack {
        name: "uv",
        source: "lib/{}.py",
        build: "uv build",
        test_one: "uv run pytest tests/test_{}.py",
        test_all: "uv run pytest -q",
        check: "uv run ruff check && uv run mypy lib",
        format: "uv run ruff format",
        add: "uv add {}",
        start: "uv run main.py --{}",
    },
    Stack {
        name: "go",
        source: "pkg/{}.go",
        build: "go build ./...",
        test_one: "go test ./pkg -run {}",
        test_all: "go test ./... 2>&1 | grep -v ok",
        check: "go vet ./... && golangci-lint run",
        format: "gofmt -w pkg/{}.go",
        add: "go get example.com/{}",
        start: "go run ./cmd/{}",
    },
    Stack {
        name: "make",
        source: "src/{}.c",
        build: "make -j4",
        test_one: "make test-{}",
        test_all: "make check",
        check: "cppcheck src && make lint",
        format: "clang-format -i src/{}.c",
        add: "make vendor-{}",
        start: "./build/app --{}",
    },
    Stack {
        name: "maven",
        source: "src/main/java/{}.java",
        build: "mvn package",
        test_one: "mvn test -Dtest={}Test",
        test_all: "mvn verify",
        check: "mvn checkstyle:check",
        format: "mvn spotless:apply",
        add: "mvn dependency:get -Dartifact={}",
        start: "java -jar target/app.jar --{}",
    },
    Stack {
        name: "rails",
        source: "app/models/{}.rb",
        build: "bundle install",
        test_one: "bundle exec rspec spec/{}_spec.rb",
        test_all: "bundle exec rspec",
        check: "bundle exec rubocop",
        format: "rubocop -a app/models/{}.rb",
        add: "bundle add {}",
        start: "bin/rails server",
    },
    Stack {
        name: "docker",
        source: "services/{}.yml",
        build: "docker compose build {}",
        test_one: "docker compose run --rm {} test",
        test_all: "docker compose run --rm tests",
        check: "docker compose config && hadolint Dockerfile",
        format: "prettier --write services/{}.yml",
        add: "docker pull {}",
        start: "docker compose up -d {}",
    },
];

/// Steps of the sessions: `@` names a command of the project.
const TASKS: [&[&str]; 20] = [
    &["git status", "grep -rn {} .", "Read @source", "@test_one", "Edit @source", "@test_one", "@test_all", "git diff"],
    &[
        "git log --oneline -5",
        "Read @source",
        "Edit @source",
        "@check",
        "@format",
        "@check",
        "git add -A",
        "git commit -m 'Mend {}'",
    ],
    &["ls -la", "find . -name '*{}*'", "Read @source", "Write @source", "@build", "@test_one", "@build && @test_one"],
    &["cat README.md", "@build", "@test_all", "git status --short"],
    &["git diff HEAD~1", "git show HEAD --stat", "Read @source", "@test_all"],
    &["@add", "Edit @source", "@build", "@test_one", "git add . && git commit -m 'Use {}'"],
    &["git branch -a", "git checkout -b {}", "Edit @source", "@format && git add -A && git commit -m '{}'"],
    &["rg {} | head -20", "Edit @source", "Edit @source", "@check", "@test_all"],
    &["@start", "Read @source", "Edit @source", "@start"],
    &["mkdir -p notes", "Write notes/{}.md", "git add notes", "git commit -m 'Note {}'"],
    &["git fetch", "git log HEAD..origin/main --oneline", "git rebase origin/main", "@test_all"],
    &["wc -l @source", "head -50 @source", "Edit @source", "@test_one", "@test_one", "git diff --stat"],
    &["@test_all", "@test_one", "Edit @source", "@test_one", "@test_all"],
    &["du -sh .", "@build", "ls -lh", "git stash list"],
    &["gh pr list", "gh pr view 12", "Read @source", "Edit @source", "@test_one", "gh pr list"],
    &["gh issue view 3", "grep -n {} @source", "Edit @source", "@test_one && @check"],
    &["mv notes/a.md notes/b.md", "Edit @source", "@build", "git add -A && git commit -m 'Move'"],
    &["curl -s https://example.com/{}.json | head -5", "Write @source", "@test_one"],
    &["git blame @source", "git log -p --follow @source | head -100", "Edit @source", "@check && @test_one"],
    &["@build && @test_all && @check", "git status", "git add -A", "git commit -m 'Done with {}'"],
];

/// Half of these are about edits, which are allowed for one session at a time.
const MOST_QUESTIONS: usize = 324;

const NAMES: [&str; 7] = ["parser", "login", "cache", "router", "report", "upload", "search"];

fn step(stack: &Stack, text: &str, name: &str) -> String {
    let parts = [
        ("@source", stack.source),
        ("@build", stack.build),
        ("@test_one", stack.test_one),
        ("@test_all", stack.test_all),
        ("@check", stack.check),
        ("@format", stack.format),
        ("@add", stack.add),
        ("@start", stack.start),
    ];
    let text = parts.iter().fold(text.to_owned(), |text, (key, command)| text.replace(key, command));
    let text = text.replace("{}", name);
    let is_tool = ["Read ", "Edit ", "Write "].iter().any(|tool| text.starts_with(tool));
    if is_tool { text } else { format!("Bash {text}") }
}

/// Returns `true` if an update is kept for later sessions.
fn is_kept(update: &PermissionUpdate) -> bool {
    matches!(update, PermissionUpdate::AddRules { destination: UpdateDestination::LocalSettings, .. })
}

/// A person who answers "always" whenever that is offered, and otherwise allows the one call.
#[derive(Default)]
struct Seen {
    calls: usize,
    questions: usize,
    /// Questions without "always".
    once: BTreeSet<String>,
}

fn play(stack: &Stack, seen: &mut Seen) {
    let mut project = World::new(Rules::default());
    let mut given: BTreeSet<String> = BTreeSet::new();
    for (number, task) in TASKS.iter().enumerate() {
        let mut session = project.clone();
        let mut answered: BTreeSet<String> = BTreeSet::new();
        for text in *task {
            let call = step(stack, text, NAMES[number % NAMES.len()]);
            seen.calls += 1;
            let decision = session.decision(&call);
            assert_ne!(decision.behavior, Behavior::Deny, "{call}: {}", decision.message);
            if decision.behavior == Behavior::Allow {
                continue;
            }
            seen.questions += 1;
            if decision.suggestions.is_empty() {
                seen.once.insert(call);
                continue;
            }
            // All edits of the session at once, and otherwise the narrowest.
            let is_mode = |update: &&PermissionUpdate| matches!(update, PermissionUpdate::SetMode { .. });
            let update = decision.suggestions.iter().find(is_mode).unwrap_or(&decision.suggestions[0]);
            let says = format!("{update:?}");
            let fresh = if is_kept(update) { given.insert(says) } else { answered.insert(says) };
            assert!(fresh, "{}: {call} asks for what was given before: {update:?}", stack.name);
            session.policy.apply(update).unwrap();
            if is_kept(update) {
                project.policy.apply(update).unwrap();
            }
            assert_eq!(session.verdict(&call), Behavior::Allow, "{}: {call} would be asked about again", stack.name);
        }
    }
}

#[test]
fn what_was_answered_once_is_not_asked_again() {
    let mut seen = Seen::default();
    STACKS.iter().for_each(|stack| play(stack, &mut seen));
    assert_eq!(STACKS.len() * TASKS.len(), 200);
    let Seen { calls, questions, once } = &seen;
    // A figure to be lowered, not raised.
    assert!(*questions <= MOST_QUESTIONS, "{questions} questions for {calls} calls");
    assert!(once.is_empty(), "without \"always\": {once:#?}");
}

/// A line asks for the rules that its commands need, each by itself.
#[test]
fn each_command_of_a_line_gets_the_narrowest_rule() {
    let world = World::new(Rules::default());
    for (call, expected) in [
        ("Bash npm run lint && npm run typecheck", vec!["npm run lint *", "npm run typecheck *"]),
        ("Bash ls && npm test | tail -5", vec!["npm test *"]),
        (
            "Bash git add -A && git commit -m 'x' && git push origin main",
            vec!["git add *", "git commit *", "git push origin main"],
        ),
        ("Bash cd src && make", vec!["make *"]),
        ("Bash sudo make && npm test", vec![]),
    ] {
        let suggestions = world.decision(call).suggestions;
        let rules = suggestions.iter().filter_map(|update| match update {
            PermissionUpdate::AddRules { rules, .. } => Some(rules.iter().filter_map(|rule| rule.rule_content.clone())),
            _ => None,
        });
        assert_eq!(rules.flatten().collect::<Vec<_>>(), expected, "{call}");
    }
    let known = World::new(crate::common::allow(&["Bash(git add *)", "Bash(git commit *)"]));
    let suggestions = known.decision("Bash git add -A && git commit -m x && cargo build").suggestions;
    assert_eq!(crate::common::short(&suggestions), ["Bash(cargo build *) localSettings"]);
}
