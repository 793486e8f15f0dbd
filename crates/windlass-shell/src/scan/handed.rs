//! Commands into which another program puts words: `xargs`, and `find -exec`.

use super::reader::ScriptReader;
use crate::reason::Undecided;
use crate::word::Word;

/// Words that a program puts into the command that it runs.
#[derive(Debug, Default)]
pub(super) struct Handed {
    /// The texts that names take the place of, wherever they stand.
    pub(super) replaced: Vec<String>,
    /// `true` if words are appended.
    pub(super) appended: bool,
}

impl Handed {
    /// Returns the words that `xargs` adds, by its options.
    pub(super) fn by_xargs(options: &[Word]) -> Self {
        let mut replaced = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let text = option.text();
            let (name, value) = match text.strip_prefix("--") {
                Some(long) => match long.split_once('=') {
                    Some((name, value)) if "replace".starts_with(name) => ('i', value),
                    None if !long.is_empty() && "replace".starts_with(long) => ('i', ""),
                    _ => continue,
                },
                None => {
                    let named = |name| text.strip_prefix('-')?.split_once(name).map(|(_, value)| (name, value));
                    match named('I').or_else(|| named('i')) {
                        Some(found) => found,
                        None => continue,
                    }
                }
            };
            match (name, value) {
                ('I', "") => replaced.extend(options.get(index.saturating_add(1)).map(|next| next.text().to_owned())),
                ('i', "") => replaced.push("{}".to_owned()),
                (_, value) => replaced.push(value.to_owned()),
            }
        }
        replaced.retain(|text| !text.is_empty());
        let appended = replaced.is_empty();
        Self { replaced, appended }
    }

    /// Returns the words that `find` and `fd` add.
    pub(super) fn by_find() -> Self {
        Self { replaced: ["{}", "{/}", "{//}", "{.}", "{/.}"].map(str::to_owned).into(), appended: false }
    }
}

impl ScriptReader<'_, '_> {
    /// Records a command into which words are put, and all that it runs.
    pub(super) fn emit_handed(&mut self, words: &[Word], handed: Handed, wrapped: usize) -> bool {
        let around = self.sink.handed.replace(handed);
        let reads_script = self.emit(words, Vec::new(), wrapped);
        self.sink.handed = around;
        reads_script
    }

    /// Returns `true` if a name replaces a part of the word.
    pub(super) fn is_replaced(&self, word: &Word) -> bool {
        let replaced = |handed: &Handed| handed.replaced.iter().any(|text| word.text().contains(text));
        self.sink.handed.as_ref().is_some_and(replaced)
    }

    /// Handles a missing program or script: if words are added, the first of them is it.
    pub(super) fn is_missing(&mut self, what: Undecided) {
        if self.sink.handed.as_ref().is_some_and(|handed| handed.appended) {
            self.undecided(what);
        }
    }
}
