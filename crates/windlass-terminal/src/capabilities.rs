//! Abilities of the terminal, from its environment and from its answers.

mod probe;

pub use probe::{Background, PROBE, ProbeAnswers};

use crate::screen::{ColorDepth, Modes, ScreenOptions};
use std::time::Duration;
use windlass_types::locale::{CharacterSet, VARIABLES, character_set};

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "programs choose one of both")]
pub enum Presentation {
    /// Finished rows in the scrollback, with a live area below them.
    Inline,
    /// Labelled lines, nothing is redrawn: for pipes, terminals without control sequences, and screen readers.
    Plain,
}

/// Abilities of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs may set what they know better")]
pub struct Capabilities {
    /// Form of the output.
    pub presentation: Presentation,
    /// Colours.
    pub colors: ColorDepth,
    /// `true` if the terminal is known to wrap rows anew when its width changes.
    pub reflows: bool,
    /// `true` if the terminal is known to save rows and to show them again as tmux does, see
    /// [`ScreenOptions::refills`].
    pub refills: bool,
    /// `true` if characters beyond ASCII are drawn.
    pub unicode: bool,
    /// Modes that the terminal takes.
    pub modes: Modes,
    /// Time that bytes take to the terminal: longer over a network.
    pub latency: Duration,
    /// Time for which a size has to stay before it is drawn for: longer in terminals that tell some sizes late.
    pub resize_rest: Duration,
}

/// Time within which tmux tells a program the second of two sizes, with some for a busy machine.
const LATE_SIZES: Duration = Duration::from_millis(320);

/// Variables that terminals set which wrap rows anew when their width changes.
const REFLOWING: [&str; 9] = [
    "TMUX",
    "ZELLIJ",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "ALACRITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "GHOSTTY_RESOURCES_DIR",
    "KONSOLE_VERSION",
    "WT_SESSION",
];

/// Values of `TERM_PROGRAM` of such terminals.
const REFLOWING_PROGRAMS: [&str; 5] = ["iTerm.app", "vscode", "WezTerm", "ghostty", "Apple_Terminal"];

/// Values of `TERM` of such terminals.
const REFLOWING_TERMS: [&str; 4] = ["alacritty", "foot", "xterm-ghostty", "xterm-kitty"];

impl Capabilities {
    /// Abilities as the environment tells them. `variable` gives the value of an environment variable; `is_terminal` is
    /// `true` if the output is one.
    ///
    /// Nothing is assumed: a terminal that is not known has sixteen colours and keeps its rows.
    pub fn detect(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> Self {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_set = |name: &str| value(name).is_some();
        let term = value("TERM").unwrap_or_default();
        let program = value("TERM_PROGRAM").unwrap_or_default();
        let is_dumb = !is_set("WT_SESSION") && (term.is_empty() || term == "dumb");
        let is_console = term == "linux";
        // GNU screen and xterm keep rows, whatever terminal they run in.
        let keeps = is_set("STY") || is_set("XTERM_VERSION") && !is_set("TMUX") || is_console;
        let is_known = REFLOWING.iter().any(|name| is_set(name))
            || REFLOWING_PROGRAMS.contains(&program.as_str())
            || REFLOWING_TERMS.contains(&term.as_str());
        // Over a network, `TMUX` is not known, and `TERM` is.
        let tells_late = is_set("TMUX") || term.starts_with("tmux") || term.starts_with("screen");
        let is_remote = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
        let modes = if is_console {
            Modes { distinct_keys: false, focus: false, ..Modes::default() }
        } else {
            Modes::default()
        };
        Self {
            presentation: if is_terminal && !is_dumb { Presentation::Inline } else { Presentation::Plain },
            colors: if is_terminal && !is_dumb { colors(&value, &term, &program) } else { ColorDepth::None },
            reflows: is_known && !keeps,
            refills: is_set("TMUX") && !keeps,
            unicode: is_set("WT_SESSION") || is_utf8(&value) && !is_console,
            modes,
            latency: if is_remote { Duration::from_millis(250) } else { Duration::from_millis(5) },
            resize_rest: if tells_late { LATE_SIZES } else { Duration::from_millis(50) },
        }
    }

    /// Options of a screen on this terminal.
    #[must_use]
    pub fn screen_options(&self) -> ScreenOptions {
        ScreenOptions { colors: self.colors, reflows: self.reflows, refills: self.refills, modes: self.modes }
    }
}

fn colors(value: &impl Fn(&str) -> Option<String>, term: &str, program: &str) -> ColorDepth {
    let is_direct = value("COLORTERM").is_some_and(|kind| kind == "truecolor" || kind == "24bit")
        || value("WT_SESSION").is_some()
        || term.ends_with("-direct");
    if value("NO_COLOR").is_some() {
        ColorDepth::None
    } else if is_direct {
        ColorDepth::Rgb
    } else if term.contains("256color") || program == "Apple_Terminal" {
        ColorDepth::Indexed256
    } else {
        ColorDepth::Ansi16
    }
}

fn is_utf8(value: &impl Fn(&str) -> Option<String>) -> bool {
    VARIABLES.iter().find_map(|name| value(name)).is_some_and(|locale| character_set(&locale) == CharacterSet::Utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(variables: &[(&str, &str)]) -> Capabilities {
        Capabilities::detect(
            |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()),
            true,
        )
    }

    #[test]
    fn a_terminal_that_is_not_known_gets_what_all_have() {
        let unknown = detected(&[("TERM", "vt220")]);
        assert_eq!(unknown.presentation, Presentation::Inline);
        assert_eq!(unknown.colors, ColorDepth::Ansi16);
        assert!(!unknown.reflows && !unknown.unicode);
    }

    #[test]
    fn pipes_and_dumb_terminals_get_lines() {
        for variables in [&[("TERM", "dumb")][..], &[], &[("TERM", "")]] {
            let dumb = detected(variables);
            assert_eq!((dumb.presentation, dumb.colors), (Presentation::Plain, ColorDepth::None));
        }
        let pipe = Capabilities::detect(|name| (name == "TERM").then(|| "xterm-256color".to_owned()), false);
        assert_eq!((pipe.presentation, pipe.colors), (Presentation::Plain, ColorDepth::None));
    }

    #[test]
    fn colors_follow_the_variables() {
        for (variables, colors) in [
            (&[("TERM", "xterm-256color")][..], ColorDepth::Indexed256),
            (&[("TERM", "xterm"), ("COLORTERM", "truecolor")], ColorDepth::Rgb),
            (&[("TERM", "xterm"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], ColorDepth::None),
            (&[("TERM", "xterm"), ("NO_COLOR", "")], ColorDepth::Ansi16),
            (&[("WT_SESSION", "x")], ColorDepth::Rgb),
        ] {
            assert_eq!(detected(variables).colors, colors, "{variables:?}");
        }
    }

    #[test]
    fn only_known_terminals_wrap_anew() {
        for (variables, reflows) in [
            (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x")][..], true),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], true),
            (&[("TERM", "xterm-256color"), ("XTERM_VERSION", "XTerm(390)")], false),
            (&[("TERM", "screen"), ("STY", "1.pts"), ("VTE_VERSION", "7600")], false),
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM", "linux")], false),
        ] {
            assert_eq!(detected(variables).reflows, reflows, "{variables:?}");
        }
    }

    #[test]
    fn sizes_rest_longer_in_tmux() {
        let rest = |variables| detected(variables).resize_rest;
        let usual = rest(&[("TERM", "xterm-256color")]);
        assert!(usual <= Duration::from_millis(50));
        assert!(rest(&[("TERM", "xterm-256color"), ("TMUX", "/tmp/x")]) > Duration::from_millis(250));
        assert!(detected(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x")]).refills);
        assert!(!detected(&[("TERM", "xterm-kitty")]).refills);
        assert_eq!(rest(&[("TERM", "tmux-256color"), ("SSH_TTY", "x")]), rest(&[("TERM", "x"), ("TMUX", "y")]));
    }

    #[test]
    fn bytes_take_longer_over_a_network() {
        let near = detected(&[("TERM", "xterm"), ("LANG", "de_DE.UTF-8")]);
        let far = detected(&[("TERM", "xterm"), ("SSH_CONNECTION", "a b"), ("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]);
        assert!(far.latency > near.latency);
        assert!(near.unicode && !far.unicode);
    }
}
