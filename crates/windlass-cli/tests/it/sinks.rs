//! Every place at which the command writes to a terminal, and the filter that texts of others pass there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files that write to a standard stream, below `src`, with the filter that they use. A file that is new here needs one.
/// Files without a filter print only what the second part says.
const SINKS: [(&str, &str); 44] = [
    ("agents.rs", "clean_line"),
    ("ask.rs", "dialog of `ask/question.rs`, whose texts are made visible"),
    ("completions.rs", "clean_line"),
    ("config.rs", "visible_json"),
    ("confirmation.rs", "asks the questions of the command itself"),
    ("context.rs", "clean_line"),
    ("doctor.rs", "clean_line"),
    ("explain.rs", "jsonl::write"),
    ("first_run.rs", "clean"),
    ("host.rs", "a frame of `FrameMapper`"),
    ("import.rs", "clean_line"),
    ("index.rs", "clean"),
    ("init.rs", "clean"),
    ("login.rs", "clean_line"),
    ("main.rs", "clean_line"),
    ("mcp/change.rs", "clean_line"),
    ("mcp/examine.rs", "clean_line"),
    ("mcp/import.rs", "clean_line"),
    ("mcp/login.rs", "clean_line"),
    ("mcp/serve.rs", "clean_line"),
    ("mcp/shown.rs", "clean_line"),
    ("memory.rs", "clean_line"),
    ("models.rs", "clean_line"),
    ("notes.rs", "clean_line"),
    ("proxy.rs", "clean"),
    ("proxy/child.rs", "clean"),
    ("run.rs", "clean"),
    ("sessions.rs", "clean"),
    ("sessions/agents.rs", "clean_line"),
    ("sessions/audit.rs", "clean_line"),
    ("sessions/gc.rs", "clean_line"),
    ("sessions/listing.rs", "clean"),
    ("sessions/pending.rs", "clean_line"),
    ("sessions/rewind.rs", "clean"),
    ("sessions/stats.rs", "clean_line"),
    ("sessions/title.rs", "clean"),
    ("settings.rs", "visible_json"),
    ("terminal.rs", "asks which streams are terminals"),
    ("tools.rs", "clean"),
    ("trust.rs", "clean_line"),
    ("uninstall.rs", "clean_line"),
    ("worker.rs", "clean_line"),
    ("worker/queue.rs", "clean"),
    ("writer.rs", "gets texts of `output.rs` and `display.rs`"),
];

/// The filters. Each is the one table of characters of `windlass_types::text`, with secrets masked where texts are for people.
const FILTERS: [&str; 6] = ["clean", "clean_line", "visible", "visible_line", "visible_json", "jsonl::write"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn texts_of_others_pass_a_filter_wherever_they_are_shown() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut known: BTreeMap<&str, &str> = SINKS.into();
    for path in files {
        let name = path.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        assert!(
            !["print!(", "println!(", "eprint"].iter().any(|word| code.contains(word)),
            "{name} prints with a macro"
        );
        if !code.contains("stdout()") && !code.contains("stderr()") || name.ends_with("tests.rs") {
            continue;
        }
        let filter = known.remove(name.as_str());
        let filter = filter.unwrap_or_else(|| panic!("{name} writes to a standard stream and is not in the table"));
        if FILTERS.contains(&filter) {
            assert!(code.contains(&format!("{filter}(")), "{name} does not use {filter}");
        }
    }
    assert!(known.is_empty(), "these write to no standard stream: {known:?}");
}

#[test]
fn everything_that_a_terminal_acts_on_is_filtered() {
    let controls = (0..=0x9f_u32).filter(|c| *c < 0x20 || *c >= 0x7f).filter_map(char::from_u32);
    let others = "\u{202a}\u{202e}\u{2066}\u{2069}\u{200b}\u{feff}\u{e0041}\u{061c}".chars();
    for c in controls.chain(others).filter(|c| !matches!(c, '\n' | '\t')) {
        let text = format!("a{c}]0;title{c}b");
        for shown in [windlass::text::clean(&text), windlass::text::visible_line(&text)] {
            assert!(!shown.contains(c), "{:x} {shown:?}", u32::from(c));
        }
    }
}
