//! Token counts.

use crate::frame::UsageMetadata;
use windlass_types::Usage;

/// Counts of one message. Each chunk repeats them, later ones may leave some out: the highest of each is used.
#[derive(Debug, Default)]
pub(crate) struct GeminiUsage {
    prompt: u64,
    cached: u64,
    of_tools: u64,
    answer: u64,
    thoughts: u64,
    searches: u64,
    reported: Usage,
}

impl GeminiUsage {
    pub(crate) fn take(&mut self, counts: &UsageMetadata) {
        let raise = |figure: &mut u64, later: Option<u64>| *figure = (*figure).max(later.unwrap_or(0));
        raise(&mut self.prompt, counts.prompt_token_count);
        raise(&mut self.cached, counts.cached_content_token_count);
        raise(&mut self.of_tools, counts.tool_use_prompt_token_count);
        raise(&mut self.answer, counts.candidates_token_count);
        raise(&mut self.thoughts, counts.thoughts_token_count);
    }

    /// Records the number of searches by the service.
    pub(crate) fn searched(&mut self, times: u64) {
        self.searches = self.searches.max(times);
    }

    /// Returns the usage so far. The API counts cached tokens as part of the prompt and reasoning separately from the
    /// answer.
    ///
    /// No figure shrinks: input that was reported as not cached stays so, even if the API later reports it as cached.
    pub(crate) fn report(&mut self) -> Usage {
        let input = self.prompt.saturating_add(self.of_tools);
        let plain = input.saturating_sub(self.cached).max(self.reported.input_tokens);
        self.reported = Usage::new(plain, self.answer.saturating_add(self.thoughts));
        self.reported.web_search_requests = self.searches;
        self.reported.cache_read_input_tokens = input.saturating_sub(plain);
        self.reported
    }

    /// Returns the usage at the begin of a message: the input alone. A first chunk may hold the whole answer with its
    /// count, and a count that does not grow after the first frame is taken for an unfinished one.
    pub(crate) fn first_report(&mut self) -> Usage {
        self.report();
        self.reported.output_tokens = 0;
        self.reported
    }

    /// Returns the usage so far, unless it is the one reported last.
    pub(crate) fn news(&mut self) -> Option<Usage> {
        let before = self.reported;
        let now = self.report();
        (now != before).then_some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(figures: [u64; 5]) -> UsageMetadata {
        let [prompt, cached, of_tools, answer, thoughts] = figures.map(Some);
        UsageMetadata {
            prompt_token_count: prompt,
            cached_content_token_count: cached,
            tool_use_prompt_token_count: of_tools,
            candidates_token_count: answer,
            thoughts_token_count: thoughts,
        }
    }

    #[test]
    fn cached_input_is_apart_and_thoughts_are_output() {
        let mut all = GeminiUsage::default();
        all.take(&counts([100, 60, 5, 7, 20]));
        let usage = all.report();
        assert_eq!((usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens), (45, 60, 27));
        assert_eq!(all.news(), None);
    }

    #[test]
    fn the_first_report_leaves_the_output_to_the_last_one() {
        let mut all = GeminiUsage::default();
        all.take(&counts([10, 0, 0, 20, 0]));
        assert_eq!(all.first_report(), Usage::new(10, 0));
        assert_eq!(all.news(), Some(Usage::new(10, 20)));
    }

    proptest! {
        #[test]
        fn no_figure_shrinks_and_each_token_counts_once(steps in prop::collection::vec(prop::array::uniform5(0_u64..200), 1..8)) {
            let mut all = GeminiUsage::default();
            let mut before = Usage::default();
            for step in steps {
                all.take(&counts(step));
                let now = all.report();
                prop_assert!(now.input_tokens >= before.input_tokens);
                prop_assert!(now.cache_read_input_tokens >= before.cache_read_input_tokens);
                prop_assert!(now.output_tokens >= before.output_tokens);
                prop_assert_eq!(now.total_input(), all.prompt + all.of_tools);
                before = now;
            }
        }
    }
}
