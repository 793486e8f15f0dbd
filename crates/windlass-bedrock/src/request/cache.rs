//! Where the prompt is cached.
//!
//! The API takes four points, and longer lifetimes only before shorter ones: all points of a request have the same. None
//! may follow reasoning: points in messages stand at the end of messages of the user.
//! Source: <https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html>.

use crate::models::{Caching, Family};
use windlass_types::{CacheTtl, ModelRequest, Role};

const POINT: &str = "{\"cachePoint\":{\"type\":\"default\"}}";
const POINT_OF_AN_HOUR: &str = "{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}";

/// The points of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cache {
    /// What is written at each of them. `None`: there are none.
    point: Option<&'static str>,
    has_tools: bool,
    /// The messages of the user that end with one.
    messages: [Option<usize>; 2],
}

impl Cache {
    pub(super) const NONE: Self = Self { point: None, has_tools: false, messages: [None; 2] };

    pub(super) fn of(request: &ModelRequest, family: Family) -> Self {
        let (Some(ttl), true) = (request.cache, family.caching != Caching::None) else { return Self::NONE };
        let is_long = ttl == CacheTtl::OneHour && family.caching == Caching::ToolsToo { has_hour: true };
        let mut users = request
            .messages
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, message)| message.role == Role::User)
            .map(|(at, _)| at);
        Self {
            point: Some(if is_long { POINT_OF_AN_HOUR } else { POINT }),
            has_tools: matches!(family.caching, Caching::ToolsToo { .. }) && !request.tools.is_empty(),
            messages: [users.next(), users.next()],
        }
    }

    /// What is written at a point.
    pub(super) fn point(&self) -> &'static str {
        self.point.unwrap_or_default()
    }

    /// Whether the tools, which stand apart from the rest, end with a point.
    pub(super) fn ends_tools(&self) -> bool {
        self.has_tools
    }

    /// How many points the system prompt may have.
    pub(super) fn of_system(&self) -> usize {
        match self.point {
            None => 0,
            Some(_) if self.has_tools => 1,
            Some(_) => 2,
        }
    }

    /// Whether a message ends with a point.
    pub(super) fn ends_message(&self, at: usize) -> bool {
        self.point.is_some() && self.messages.contains(&Some(at))
    }
}
