//! Questions to the person at the terminal that are answered with yes or no.

use crate::terminal::forget_input;
use std::io::{self, BufRead, Write, stderr, stdin};

/// Asks at the terminal. Input typed before the question is no answer; the end of input is a no.
pub(crate) fn confirmed(question: &str) -> io::Result<bool> {
    forget_input();
    ask(question, stdin().lock(), stderr())
}

fn ask(question: &str, mut input: impl BufRead, mut output: impl Write) -> io::Result<bool> {
    loop {
        write!(output, "{question} [y]es [n]o: ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output)?;
            return Ok(false);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        for (typed, expected) in
            [("y\n", true), ("YES\n", true), ("n\n", false), ("", false), ("\n", false), ("what\ny\n", true)]
        {
            let mut asked = Vec::new();
            assert_eq!(ask("Trust all of this?", typed.as_bytes(), &mut asked).unwrap(), expected, "{typed:?}");
            assert!(asked.starts_with(b"Trust all of this? [y]es"));
        }
    }
}
