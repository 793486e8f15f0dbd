//! Content of a request, independent of its dialect.

use serde_json::Value;

/// A request that follows its vendor's rules, read back.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Asked {
    /// Name of the model.
    pub model: String,
    /// Conversation, in order.
    pub said: Vec<Said>,
    /// Names of the tools, in order.
    pub tools: Vec<String>,
}

/// A piece of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Said {
    /// Instructions of the program.
    System(String),
    /// Text of the user.
    User(String),
    /// Text of the model.
    Assistant(String),
    /// Reasoning of the model: the token with which the vendor recognizes it, or its text if the vendor has no token.
    Reasoning(String),
    /// A call of the model.
    Call {
        /// Id of the call; if the vendor gives none, the place of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Input of the call.
        input: Value,
    },
    /// The result of a call.
    Result {
        /// Id of the call.
        id: String,
        /// Text of the result.
        text: String,
    },
}

impl Asked {
    /// Returns the tokens or texts of reasoning, in order.
    #[must_use]
    pub fn reasoning(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Reasoning(token) => Some(token.as_str()),
            _ => None,
        })
    }

    /// Returns the ids of calls, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Call { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// Returns the ids that results answer, in order.
    #[must_use]
    pub fn results(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Result { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// Returns the texts that the model wrote, in order.
    #[must_use]
    pub fn assistant(&self) -> Vec<&str> {
        self.pick(|said| match said {
            Said::Assistant(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the texts of the user and of tool results since the last text of the model, in order.
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
