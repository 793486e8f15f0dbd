//! Retention of cached prompts, for sessions that ask for more than minutes.
//!
//! Source: OpenAI, "Prompt caching", "Prompt cache retention".

use windlass_types::{CacheTtl, ModelRequest};

/// Returns the member that requests the longest retention of the model, and its JSON. `None` if the session does not
/// ask for it, or the model is not known to have a choice.
pub(crate) fn member(request: &ModelRequest) -> Option<(&'static str, &'static str)> {
    if request.cache != Some(CacheTtl::OneHour) {
        return None;
    }
    let model = request.model.as_str();
    let is = |name: &str| model.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("-20"));
    match generation(model)? {
        // The retention of older models is refused from here on.
        (5, 6..) | (6.., _) => Some(("prompt_cache_options", r#"{"ttl":"30m"}"#)),
        (5, 1..=5) => Some(("prompt_cache_retention", r#""24h""#)),
        // Small models of these generations have no such retention.
        (5, 0) if is("gpt-5") || is("gpt-5-codex") => Some(("prompt_cache_retention", r#""24h""#)),
        (4, 1) if is("gpt-4.1") => Some(("prompt_cache_retention", r#""24h""#)),
        _ => None,
    }
}

/// Returns the generation in a name: 5 and 6 of `gpt-5.6-sol`.
fn generation(model: &str) -> Option<(u32, u32)> {
    let number = model.strip_prefix("gpt-")?.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_is_asked_for_the_longest_that_it_has() {
        let day = Some(("prompt_cache_retention", r#""24h""#));
        let half_an_hour = Some(("prompt_cache_options", r#"{"ttl":"30m"}"#));
        for (model, expected) in [
            ("gpt-4.1", day),
            ("gpt-4.1-2025-04-14", day),
            ("gpt-4.1-mini", None),
            ("gpt-4o", None),
            ("gpt-5", day),
            ("gpt-5-codex", day),
            ("gpt-5-mini", None),
            ("gpt-5.1-codex-mini", day),
            ("gpt-5.5-2026-04-24", day),
            ("gpt-5.6-sol", half_an_hour),
            ("gpt-6", half_an_hour),
            ("gpt-6.2-sol", half_an_hour),
            ("o4-mini", None),
            ("my-deployment", None),
        ] {
            let mut request = ModelRequest::new(model, Vec::new(), 1);
            for (ttl, expected) in
                [(Some(CacheTtl::OneHour), expected), (Some(CacheTtl::FiveMinutes), None), (None, None)]
            {
                request.cache = ttl;
                assert_eq!(member(&request), expected, "{model} {ttl:?}");
            }
        }
    }
}
