//! The files that the command line of `apiKeyHelper` names.
//!
//! It runs outside of the sandbox, since it reads what the sandbox hides: keys, agents for keys, vaults on a network. What a confined
//! command could write into its program would run there too, so these files are protected.

use super::LoadedProject;
use std::path::{Path, PathBuf};
use windlass_project::split_arguments;

/// Most words of a command line that are looked at.
const MOST_WORDS: usize = 256;
/// What separates commands in a line.
const BETWEEN: [char; 9] = [';', '&', '|', '<', '>', '(', ')', '`', '\n'];

impl LoadedProject {
    /// The files that are there, and the program if the line begins with a path.
    pub(super) fn helper_files(&self) -> Vec<PathBuf> {
        let Some(helper) = &self.resolved().session.api_key_helper else { return Vec::new() };
        let places = self.places();
        named_files(&helper.value, places.start(), places.user_home.as_deref())
    }
}

fn named_files(line: &str, start: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let words = split_arguments(&line.replace(BETWEEN, " "));
    let path = |word: &String| {
        let below = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|prefix| word.strip_prefix(prefix));
        match (below, home) {
            (Some(below), Some(home)) => home.join(below),
            _ => start.join(word),
        }
    };
    let is_program = |(at, word): &(usize, &String)| *at == 0 && word.contains('/');
    let named = words.iter().take(MOST_WORDS).enumerate();
    let named = named.map(|one| (is_program(&one), path(one.1)));
    named.filter(|(is_program, path)| *is_program || path.is_file()).map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_line_names_are_found() {
        let place = tempfile::tempdir().unwrap();
        let (start, home) = (place.path().join("work"), place.path().join("home"));
        for folder in ["work/tools", "home/bin"] {
            std::fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for file in ["work/tools/key.sh", "work/two words", "home/bin/key"] {
            std::fs::write(place.path().join(file), "").unwrap();
        }
        let found = |line: &str| named_files(line, &start, Some(&home));
        for (line, expected) in [
            ("tools/key.sh --field x", vec![start.join("tools/key.sh")]),
            ("sh ./tools/key.sh|head -1", vec![start.join("./tools/key.sh")]),
            ("cat 'two words'", vec![start.join("two words")]),
            ("$HOME/bin/key; ~/bin/key", vec![home.join("bin/key"), home.join("bin/key")]),
            ("./not-there x", vec![start.join("./not-there")]),
            ("vault read secret/anthropic", vec![]),
            // A directory would be the whole workspace too easily.
            ("cd tools && x .", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
    }
}
