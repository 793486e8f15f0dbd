//! Ids of models.

/// `true` if two ids name one model: a provider may use a dated form, or the suffix `-latest`; a variant such as `[1m]`
/// is the same model.
pub fn is_same_model(a: &str, b: &str) -> bool {
    fn undated(id: &str) -> &str {
        let id = id.strip_suffix(']').and_then(|id| id.rsplit_once('[')).map_or(id, |(id, _)| id);
        let id = id.strip_suffix("-latest").unwrap_or(id);
        match id.rsplit_once(['-', '@']) {
            Some((name, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => id,
        }
    }
    a == b || undated(a) == undated(b)
}

#[cfg(test)]
mod tests {
    use super::is_same_model;

    #[test]
    fn a_dated_id_names_the_same_model_and_a_longer_name_another() {
        for (a, b, same) in [
            ("m", "m", true),
            ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", true),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219", true),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", true),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5-20250929", true),
            ("claude-sonnet-4", "claude-sonnet-4-5", false),
            ("claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929", false),
        ] {
            assert_eq!((is_same_model(a, b), is_same_model(b, a)), (same, same), "{a} {b}");
        }
    }
}
