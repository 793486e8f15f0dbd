//! Cache points of the prompt.
//!
//! The API takes four points, and longer lifetimes only before shorter ones: all points of a request have the same
//! lifetime. None may follow reasoning: points in messages are at the end of messages of the user. Source:
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html>.

use crate::models::{Caching, ConverseFamily};
use windlass_types::{CacheTtl, ModelRequest, Role};

const POINT: &str = "{\"cachePoint\":{\"type\":\"default\"}}";
const POINT_OF_AN_HOUR: &str = "{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}";

/// Cache points of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CachePoints {
    /// JSON of a point. `None` if there are no points.
    point: Option<&'static str>,
    has_tools: bool,
    /// Messages of the user that end with a point.
    messages: [Option<usize>; 2],
}

impl CachePoints {
    pub(super) const NONE: Self = Self { point: None, has_tools: false, messages: [None; 2] };

    pub(super) fn of(request: &ModelRequest, family: ConverseFamily) -> Self {
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

    /// Returns the JSON of a point.
    pub(super) fn point(&self) -> &'static str {
        self.point.unwrap_or_default()
    }

    /// `true` if the tools, which are separate from the rest, end with a point.
    pub(super) fn ends_tools(&self) -> bool {
        self.has_tools
    }

    /// Returns the maximum number of points in the system prompt.
    pub(super) fn of_system(&self) -> usize {
        match self.point {
            None => 0,
            Some(_) if self.has_tools => 1,
            Some(_) => 2,
        }
    }

    /// `true` if a message ends with a point.
    pub(super) fn ends_message(&self, at: usize) -> bool {
        self.point.is_some() && self.messages.contains(&Some(at))
    }
}
