//! Words of comments: each names its thing first.
//!
//! A comment that begins with a question word or a pronoun is read twice. The ceilings are shares of all comments of the
//! workspace, without exceptions for files; a little is left for prompts, which are doc comments of the inputs of tools.

use std::fs;
use std::path::{Path, PathBuf};

/// Words at the beginning of comments, with the largest share of all comments, in hundredths of a percent.
const OPENINGS: [(&[&str], usize); 3] =
    [(&["What", "Who", "Whose"], 20), (&["It", "Its", "Those", "Something"], 20), (&["Where", "How", "Whether"], 100)];

/// First words of the comments of a file, with their lines. A comment is a run of lines; code blocks of documentation
/// are none.
fn openings(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut in_comment, mut in_code) = (Vec::new(), false, false);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = ["///", "//!", "//"].iter().find_map(|mark| line.strip_prefix(mark));
        let Some(comment) = comment.filter(|_| !line.starts_with("////")) else {
            (in_comment, in_code) = (false, false);
            continue;
        };
        let comment = comment.trim();
        if comment.starts_with("```") {
            in_code = !in_code;
        }
        if comment.is_empty() {
            in_comment = false;
            continue;
        }
        if !in_comment && !in_code {
            let end = comment.find(|c: char| !c.is_ascii_alphabetic() && c != '\'').unwrap_or(comment.len());
            found.push((index + 1, &comment[..end]));
        }
        in_comment = true;
    }
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("target") {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

#[test]
fn comments_name_their_thing_first() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "examples", "benches"] {
        sources(&root.join(folder), &mut files);
    }
    let (mut all, mut banned) = (0, vec![Vec::new(); OPENINGS.len()]);
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        for (line, word) in openings(&text) {
            all += 1;
            for (index, (words, _)) in OPENINGS.iter().enumerate() {
                if words.contains(&word) {
                    banned[index].push(format!("{}:{line}: {word} …", file.display()));
                }
            }
        }
    }
    assert!(files.len() > 1_000 && all > 20_000, "{} files with {all} comments", files.len());
    for ((words, ceiling), found) in OPENINGS.iter().zip(banned) {
        let share = found.len() * 10_000 / all;
        println!("{words:?}: {} of {all} comments", found.len());
        assert!(share <= *ceiling, "{} of {all} comments begin with {words:?}:\n{}", found.len(), found.join("\n"));
    }
}

#[test]
fn the_first_word_of_each_comment_is_read() {
    let text = "//! What is here.\n//! More of it.\n//!\n//! It goes on.\n\n/// ```\n/// // How not\n/// ```\nfn a() {} // no\n// Those\n";
    let words: Vec<(usize, &str)> = openings(text);
    assert_eq!(words, [(1, "What"), (4, "It"), (10, "Those")]);
}
