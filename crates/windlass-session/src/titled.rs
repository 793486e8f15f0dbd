//! Resolution of a title to a session.

use crate::SessionSummary;

/// Result of resolving a title to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Titled {
    /// No session has the title, or one that begins with it.
    None,
    /// Exactly one session matches.
    One(SessionSummary),
    /// Several sessions match, in the order in which they were given.
    Several(Vec<SessionSummary>),
}

impl Titled {
    /// Finds the session with this title, else the only one whose title begins with it. Upper and lower case, and white
    /// space at the ends, make no difference. A title without characters matches no session.
    pub fn among(sessions: impl IntoIterator<Item = SessionSummary>, title: &str) -> Self {
        let wanted = folded(title);
        let title_of = |session: &SessionSummary| session.custom_title.as_deref().map(folded);
        let begins = |session: &SessionSummary| title_of(session).is_some_and(|title| title.starts_with(&wanted));
        let beginning = sessions.into_iter().filter(|session| !wanted.is_empty() && begins(session));
        let (exact, longer): (Vec<_>, Vec<_>) =
            beginning.partition(|session| title_of(session).is_some_and(|title| title == wanted));
        let mut meant = if exact.is_empty() { longer } else { exact };
        match (meant.pop(), meant.is_empty()) {
            (None, _) => Self::None,
            (Some(one), true) => Self::One(one),
            (Some(last), false) => {
                meant.push(last);
                Self::Several(meant)
            }
        }
    }
}

fn folded(title: &str) -> String {
    title.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::SessionId;

    #[test]
    fn the_exact_title_counts_before_longer_ones() {
        let titles = ["Mend the parser", "Mend the parser (fork)", "Write docs", "write Docs", "Wait"];
        let sessions = || {
            titles.iter().enumerate().map(|(at, title)| {
                let id = SessionId::from_bits(at as u128);
                let line = format!("{{\"type\":\"custom-title\",\"customTitle\":{title:?}}}");
                crate::summarize(&id, line.as_bytes(), line.as_bytes(), 0, 1).unwrap()
            })
        };
        let meant = |title: &str| match Titled::among(sessions(), title) {
            Titled::None => vec![],
            Titled::One(one) => vec![one.custom_title.unwrap()],
            Titled::Several(several) => several.into_iter().map(|one| one.custom_title.unwrap()).collect(),
        };
        assert_eq!(meant(" mend the PARSER "), ["Mend the parser"]);
        assert_eq!(meant("Mend the parser ("), ["Mend the parser (fork)"]);
        assert_eq!(meant("Mend"), ["Mend the parser", "Mend the parser (fork)"]);
        assert_eq!(meant("write docs"), ["Write docs", "write Docs"]);
        assert_eq!(meant("wa"), ["Wait"]);
        assert_eq!(meant("parser"), Vec::<String>::new());
        assert_eq!(meant(" "), Vec::<String>::new());
    }
}
