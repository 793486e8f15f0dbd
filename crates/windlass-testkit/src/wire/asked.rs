//! What a request says, whatever its dialect.

use serde_json::Value;

/// A request that keeps its vendor's rules, read back.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Asked {
    /// The model.
    pub model: String,
    /// The conversation, in order.
    pub said: Vec<Said>,
    /// The names of the tools, in order.
    pub tools: Vec<String>,
}

/// A piece of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Said {
    /// By the program: instructions.
    System(String),
    /// By the user.
    User(String),
    /// By the model.
    Assistant(String),
    /// Reasoning of the model: the token by which the vendor knows it, or its text where the vendor has none.
    Reasoning(String),
    /// A call of the model.
    Call {
        /// Its id; where the vendor gives none, the place of the call.
        id: String,
        /// The tool.
        name: String,
        /// The input.
        input: Value,
    },
    /// The result of a call.
    Result {
        /// The id of the call.
        id: String,
        /// The text of the result.
        text: String,
    },
}

impl Asked {
    /// What stands for reasoning, in order.
    #[must_use]
    pub fn reasoning(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Reasoning(token) => Some(token.as_str()),
            _ => None,
        })
    }

    /// The ids of calls, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Call { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// The ids that results answer, in order.
    #[must_use]
    pub fn results(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Result { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// What the model wrote, in order.
    #[must_use]
    pub fn assistant(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Assistant(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// What the user wrote and what tools answered since the model wrote, in order.
    #[must_use]
    pub fn news(&self) -> Vec<&str> {
        let mut news: Vec<&str> = self
            .said
            .iter()
            .rev()
            .take_while(|said| matches!(said, Said::User(_) | Said::Result { .. } | Said::System(_)))
            .filter_map(|said| match said {
                Said::User(text) | Said::Result { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        news.reverse();
        news
    }

    fn pick<'a>(&'a self, choose: impl Fn(&'a Said) -> Option<&'a str>) -> Vec<&'a str> {
        self.said.iter().filter_map(choose).collect()
    }
}
