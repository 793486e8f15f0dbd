//! Every listing of the documents is run, or says that it is an excerpt. Rust listings are tests of `windlass-examples`, the
//! programs of `docs/hosts.md` are run by `tests/hosts/docs.py`.
//!
//! A line above a listing that is neither says what it is: `*Excerpt: REASON.*`, which readers see, or the comment
//! `<!-- file: PATH -->` for the contents of a file, which is written before the commands of its page run.

use crate::place::{Place, Ran, text, write};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A listing of a page.
#[derive(Debug)]
struct Listing {
    line: usize,
    language: String,
    /// The comment above it.
    comment: Option<String>,
    /// `true` if the line above it says, for readers, that it is an excerpt.
    says_excerpt: bool,
    text: String,
}

/// The pages, by their paths in the repository.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "md" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
    found.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

fn listings(page: &str) -> Vec<Listing> {
    let mut lines = page.lines().enumerate();
    let (mut found, mut before) = (Vec::new(), "");
    while let Some((at, line)) = lines.next() {
        if let Some(language) = line.trim().strip_prefix("```") {
            let body: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
            let comment = before.trim().strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
            let (language, comment) = (language.to_owned(), comment.map(str::to_owned));
            let mark = before.trim().strip_prefix("*Excerpt: ").and_then(|rest| rest.strip_suffix(".*"));
            let says_excerpt = mark.is_some_and(|reason| !reason.is_empty());
            found.push(Listing { line: at + 1, language, comment, says_excerpt, text: body.join("\n") });
        }
        before = line;
    }
    found
}

impl Listing {
    /// The path of the file whose contents it is.
    fn file(&self) -> Option<&str> {
        self.comment.as_deref()?.strip_prefix("file: ")
    }

    fn is_excerpt(&self) -> bool {
        self.language == "text" || self.says_excerpt
    }

    /// The commands of a shell, and the output that is shown with them.
    fn commands(&self) -> Option<(String, String)> {
        match self.language.as_str() {
            _ if self.is_excerpt() || self.file().is_some() => None,
            "sh" => Some((self.text.clone(), String::new())),
            "console" => {
                let of = |is_command| self.text.lines().filter(move |line| line.starts_with("$ ") == is_command);
                let commands: Vec<&str> = of(true).filter_map(|line| line.strip_prefix("$ ")).collect();
                Some((commands.join("\n"), of(false).map(|line| format!("{line}\n")).collect()))
            }
            _ => None,
        }
    }
}

#[test]
fn every_listing_is_run_or_is_marked_as_an_excerpt() {
    let mut unknown = Vec::new();
    for (name, page) in pages() {
        for listing in listings(&page) {
            let is_run = match listing.language.as_str() {
                language if language.starts_with("rust") => !language.contains("ignore"),
                "python" | "js" => name == "docs/hosts.md",
                _ => listing.commands().is_some(),
            };
            if !is_run && !listing.is_excerpt() && listing.file().is_none() {
                unknown.push(format!("{name}:{} {}", listing.line, listing.language));
            }
        }
    }
    assert_eq!(unknown, [""; 0], "neither run nor marked");
}

/// A mark counts only where readers see it.
#[test]
fn a_mark_in_a_comment_or_without_a_reason_is_none() {
    for (mark, is_marked) in [
        ("*Excerpt: needs a key.*", true),
        ("   *Excerpt: needs a key.*", true),
        ("*Excerpt: .*", false),
        ("<!-- excerpt: needs a key -->", false),
        ("", false),
    ] {
        let page = format!("Text.\n\n{mark}\n```sh\ntrue\n```\n");
        let [listing] = <[Listing; 1]>::try_from(listings(&page)).unwrap();
        assert_eq!(listing.is_excerpt(), is_marked, "{mark}");
    }
}

/// A place in which the commands of a page run: a small project under git, and a model that answers.
fn world() -> Place {
    let place = Place::with_turns(&vec![text("Done."); 50]);
    let (work, home) = (place.work(), place.home());
    let notebook = r##"{"cells":[{"cell_type":"code","id":"b2","metadata":{},"execution_count":null,"outputs":[],"source":["x = 1"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}"##;
    for (path, contents) in [
        (work.join("Cargo.toml"), "[package]\nname = \"shop\"\n"),
        (work.join("src/main.rs"), "//! Repairs the log of a session.\nfn main() {}\n"),
        (work.join("notes.txt"), "one\ntwo\n"),
        (work.join("src/session_log.rs"), "//! Repairs logs of sessions.\npub fn repair() {}\n"),
        (work.join("a.ipynb"), notebook),
        (work.join("calls.jsonl"), "{\"tool\":\"Read\",\"input\":{\"file_path\":\"notes.txt\"}}\n"),
        (home.join(".gitconfig"), "[user]\n\tname = a\n\temail = a@b.example\n"),
        (home.join(".claude/settings.json"), r#"{"permissions":{"deny":["Read(.env)"]},"model":"sonnet"}"#),
    ] {
        write(&path, contents);
    }
    in_shell(&place, "git init -q && git add . && git commit -qm first && echo three >> notes.txt").with_code(0);
    // The memory that a real model would have made of the prompt on the page.
    let add = "windlass memory add tests --type feedback --description 'No mocks' 'The tests must not use mocks.'";
    in_shell(&place, add).with_code(0);
    place
}

/// Runs lines of a shell, of which each must succeed, with the binary in the search path.
fn in_shell(place: &Place, lines: &str) -> Ran {
    let binary = Path::new(env!("CARGO_BIN_EXE_windlass")).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(binary).chain(std::env::split_paths(&path));
    let path: OsString = std::env::join_paths(folders).unwrap();
    let mut shell = place.command(&[]);
    let environment: Vec<_> =
        shell.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsString::from))).collect();
    shell = std::process::Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", lines]).current_dir(place.work()).env_clear();
    shell.envs(environment.into_iter().filter_map(|(name, value)| Some((name, value?)))).env("PATH", path);
    for (variable, rest) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let own = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(rest).into_os_string());
        if let Some(folder) = std::env::var_os(variable).or(own) {
            shell.env(variable, folder);
        }
    }
    shell.stdin(std::process::Stdio::null()).output().unwrap().into()
}

#[test]
fn the_commands_of_each_page_run() {
    let mut ran = 0;
    for (name, page) in pages() {
        let found = listings(&page);
        if !found.iter().any(|listing| listing.commands().is_some()) {
            continue;
        }
        let place = world();
        for listing in found {
            let Some((commands, output)) = listing.commands() else { continue };
            let done = in_shell(&place, &commands);
            assert_eq!(done.code, 0, "{name}:{}\n{commands}\n{done:#?}", listing.line);
            if !output.is_empty() {
                assert_eq!(done.stdout, output, "{name}:{}", listing.line);
            }
            ran += 1;
        }
    }
    assert!(ran > 12, "{ran}");
}

#[test]
fn the_files_of_each_page_are_taken() {
    for (name, page) in pages() {
        let files: Vec<Listing> = listings(&page).into_iter().filter(|listing| listing.file().is_some()).collect();
        if files.is_empty() {
            continue;
        }
        let place = world();
        for listing in &files {
            let path = listing.file().unwrap();
            let at = match path.strip_prefix("~/") {
                Some(path) => place.home().join(path),
                None => place.work().join(path),
            };
            write(&at, &format!("{}\n", listing.text));
        }
        in_shell(&place, "chmod -f +x scripts/* || true; windlass trust --yes").with_code(0);
        let shown = "windlass config show --json; windlass mcp list; windlass agents list; windlass context show";
        let shown = in_shell(&place, shown);
        assert_eq!(shown.code, 0, "{name}: {shown:#?}");
        for listing in &files {
            let file = Path::new(listing.file().unwrap()).file_name().unwrap().to_string_lossy();
            assert!(!shown.stderr.contains(&*file), "{name}: {shown:#?}");
        }
    }
}

/// The guard of the page on hooks blocks what it says, and nothing else.
#[test]
fn the_guard_of_the_page_on_hooks_works_as_it_says() {
    let (_, page) = pages().into_iter().find(|(name, _)| name == "docs/hooks.md").unwrap();
    let files = listings(&page);
    let file = |name: &str| files.iter().find(|listing| listing.file() == Some(name)).unwrap().text.clone();
    for (command, is_blocked) in [("git push --force", true), ("git status", false), ("ls --force", false)] {
        let call = crate::place::call("Bash", &serde_json::json!({ "command": command }));
        let place = Place::with_turns(&[call, text("Done.")]);
        write(&place.work().join("scripts/guard.sh"), &file("scripts/guard.sh"));
        write(&place.work().join(".claude/settings.json"), &file(".claude/settings.json"));
        in_shell(&place, "git init -q && chmod +x scripts/guard.sh").with_code(0);
        let run = "windlass -p x --trust --allowedTools Bash --output-format stream-json --verbose";
        let said = in_shell(&place, run).with_code(0).stdout;
        assert_eq!(said.contains("Push without --force."), is_blocked, "{command}: {said}");
    }
}

/// A model that a page names with its provider is one that is known, unless it is local or the user's own.
#[test]
fn models_that_pages_name_are_known() {
    let place = Place::new();
    let listed = place.run(&["models", "--json"]).with_code(0);
    let mut known = BTreeSet::new();
    for model in listed.lines() {
        let names = std::iter::once(&model["name"]).chain(model["aliases"].as_array().into_iter().flatten());
        known.extend(names.filter_map(Value::as_str).map(str::to_owned));
    }
    assert!(known.iter().any(|name| name.starts_with("gemini/")), "{known:?}");
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._/:".contains(c);
    for (name, page) in pages() {
        for provider in ["openai/", "gemini/", "anthropic/"] {
            let named = page
                .match_indices(provider)
                .filter(|(at, _)| !page.get(..*at).unwrap_or_default().ends_with(|c: char| is_part(c) || c == '~'));
            for (at, _) in named {
                let model: String = page.get(at..).unwrap_or_default().chars().take_while(|c| is_part(*c)).collect();
                let model = model.trim_end_matches(['.', ':', '/']);
                let is_own = model.contains("my-") || model.contains('…') || !model.contains('/');
                assert!(is_own || known.contains(model), "{name}: {model} is not among {known:?}");
            }
        }
    }
}
