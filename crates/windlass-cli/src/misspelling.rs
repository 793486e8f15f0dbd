//! A first word that is nearly the name of a command.

use crate::command_line::Cli;
use crate::failure::Usage;
use clap::CommandFactory as _;
use windlass::text::is_misspelt;

/// Words that other programs have as commands, and what they are here.
const FOREIGN: [(&str, &str); 2] = [("help", "--help"), ("version", "--version")];

/// Returns the error for a command line whose first word is nearly a command. A prompt of one word that resembles
/// a command goes after `-p` or `--`.
pub(crate) fn refusal(words: &[String]) -> Option<Usage> {
    let word = words.first().filter(|word| !word.starts_with('-') && !word.contains(char::is_whitespace))?;
    if words.iter().any(|word| word == "-p" || word == "--print") {
        return None;
    }
    let command = Cli::command();
    let names = || command.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name);
    if command.get_subcommands().any(|command| command.get_name() == word) {
        return None;
    }
    let foreign = FOREIGN.iter().find(|(name, _)| name == word).map(|(_, suggestion)| *suggestion);
    let suggestion = foreign.or_else(|| names().find(|name| is_misspelt(word, name)))?;
    Some(Usage(format!(
        "there is no command {word:?}: did you mean `windlass {suggestion}`? A prompt of this word goes behind --: windlass -- {word}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let text = refusal(&words)?.to_string();
        text.split('`').nth(1).map(str::to_owned)
    }

    #[test]
    fn a_word_close_to_a_command_is_no_prompt() {
        for (line, expected) in [
            ("dmeo", "windlass demo"),
            ("modles", "windlass models"),
            ("sesions list", "windlass sessions"),
            ("permisions explain", "windlass permissions"),
            ("help", "windlass --help"),
            ("DEMO", "windlass demo"),
        ] {
            assert_eq!(meant(line).as_deref(), Some(expected), "{line}");
        }
        for line in ["demo", "hello", "fix", "-p dmeo", "dmeo -p", "-- dmeo", "explain", "sessions lst", "settings"] {
            assert_eq!(meant(line), None, "{line}");
        }
        assert!(refusal(&["dmeo it".to_owned()]).is_none() && refusal(&[]).is_none());
    }
}
