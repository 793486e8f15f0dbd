//! Domain filter of results.

use windlass_permission::network::{Host, Target, host};

use super::{SearchHit, SearchQuery};

/// Maximum number of domains of one list.
const MOST: usize = 20;

/// Returns the domains of a list in their canonical form.
///
/// # Errors
/// Fails if one of them is no domain, or there are too many. The error text gives the correct form.
pub(super) fn domains(name: &str, list: Option<Vec<String>>) -> Result<Vec<String>, String> {
    let list = list.unwrap_or_default();
    if list.len() > MOST {
        return Err(format!("{name} takes at most {MOST} domains"));
    }
    let canonical = |domain: String| {
        let text = domain.trim().trim_start_matches("*.");
        let known = Target::new(text, 443).filter(|target| target.address().is_none() && target.host().contains('.'));
        known.map(|target| target.host().to_owned()).ok_or_else(|| format!("{name}: write domains such as example.com"))
    };
    list.into_iter().map(canonical).collect()
}

/// `true` if a page may be shown: its address is a web address within the domains of the query.
pub(super) fn fits(query: &SearchQuery, hit: &SearchHit) -> bool {
    let Host::Known(host) = host(&hit.url) else { return false };
    is_of_domains(query, &host)
}

/// `true` if a page of this domain may be shown.
pub(super) fn fits_domain(query: &SearchQuery, domain: &str) -> bool {
    let known = Target::new(domain.trim(), 443).filter(|target| target.host().contains('.'));
    let is_free = query.allowed_domains.is_empty() && query.blocked_domains.is_empty();
    known.map_or(is_free, |target| is_of_domains(query, target.host()))
}

fn is_of_domains(query: &SearchQuery, host: &str) -> bool {
    let is_of = |domain: &String| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    (query.allowed_domains.is_empty() || query.allowed_domains.iter().any(is_of))
        && !query.blocked_domains.iter().any(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_hold_for_those_below_them() {
        let list = |list: &[&str]| domains("x", Some(list.iter().map(|text| (*text).to_owned()).collect()));
        let mut query = SearchQuery::new("q");
        query.allowed_domains = list(&["Example.com.", "*.docs.rs"]).unwrap();
        query.blocked_domains = list(&["ads.example.com"]).unwrap();
        for (url, expected) in [
            ("https://example.com/a", true),
            ("https://www.example.com/", true),
            ("https://docs.rs/x", true),
            ("https://ads.example.com/", false),
            ("https://a.ads.example.com/", false),
            ("https://badexample.com/", false),
            ("https://example.com@evil.org/", false),
            ("javascript:alert(1)", false),
            ("", false),
        ] {
            assert_eq!(fits(&query, &SearchHit::new("t", url)), expected, "{url}");
        }
        for bad in ["", "com", "https://example.com", "a b.com", "127.0.0.1", "x OR site:y.com"] {
            assert!(list(&[bad]).is_err(), "{bad}");
        }
        assert!(list(&["a.com"; 21]).is_err());
    }
}
