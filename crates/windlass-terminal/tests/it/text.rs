//! Text of others reaches the screen without a character that a terminal obeys.

use proptest::prelude::*;
use windlass_terminal::text::{Line, Style, safe_lines};

proptest! {
    #[test]
    fn no_control_character_survives(text in any::<String>()) {
        let line = Line::styled(&text, Style::PLAIN.bold());
        prop_assert!(!line.text().chars().any(char::is_control), "{:?}", line.text());
        for line in safe_lines(&text) {
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}
