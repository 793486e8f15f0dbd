//! URLs of pages, in a form in which the judged host is the requested host.

use ::url::Url;
use windlass_permission::network::{NetworkPolicy, Target, Verdict};
use windlass_tool::ToolError;

/// Maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 8_192;

/// URL that may be requested. Its host and port are those that the policy judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageUrl {
    url: Url,
    target: Target,
}

impl PageUrl {
    /// Parses a URL that the model wrote. Plain http becomes https, unless the policy allows the host as private.
    ///
    /// # Errors
    /// Fails if the text is no URL of a page, or one whose host programs may read differently. The error text says how
    /// to correct it.
    pub(super) fn parse(text: &str, policy: &NetworkPolicy) -> Result<Self, ToolError> {
        let text = text.trim();
        let invalid = |why: &str| ToolError::invalid_input(format!("url {why}"));
        if text.len() > MAX_URL_BYTES {
            return Err(invalid("is too long"));
        }
        let parsed =
            Url::parse(text).map_err(|_| invalid("is not a whole address, such as https://example.com/page"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(invalid("must begin with https:// or http://"));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(invalid("must not have a user name or a password in it"));
        }
        // The permission rules have judged the raw text, so the parsed URL must have the same host.
        let judged = Target::of_url(text);
        let mut url = parsed;
        url.set_fragment(None);
        let matching = judged.filter(|target| url.host_str() == Some(target.host()));
        let Some(judged_target) = matching else {
            let normalized = url.as_str();
            return Err(invalid(&format!("names its host in a form that can be read in two ways; write {normalized}")));
        };
        upgrade(&mut url, &judged_target, policy);
        let target = Target::of_url(url.as_str()).ok_or_else(|| invalid("names no host that can be reached"))?;
        Ok(Self { url, target })
    }

    /// Resolves the target of a redirect against this address.
    pub(super) fn redirected(&self, location: &str, policy: &NetworkPolicy) -> Result<Self, ToolError> {
        let joined = self.url.join(location.trim());
        let joined = joined.map_err(|_| ToolError::rejected("The page sends on to something that is no address."))?;
        Self::parse(joined.as_str(), policy)
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    pub(super) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }
}

/// Changes plain http to https, except for hosts that the policy allows as private: they rarely have a certificate.
fn upgrade(url: &mut Url, target: &Target, policy: &NetworkPolicy) {
    let is_private = matches!(policy.judge(target), Verdict::Allowed(permission) if permission.allows_private());
    if url.scheme() == "http" && !is_private {
        // `set_scheme` cannot fail between http and https. A URL without a port uses that of https from here on.
        let _ = url.set_scheme("https");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        let policy = NetworkPolicy::default().allow_private("127.0.0.1:*").unwrap();
        for (text, expected) in [
            (" https://Example.com/A?b=c#d ", "https://example.com/A?b=c"),
            ("http://example.com", "https://example.com/"),
            ("http://example.com:80/x", "https://example.com/x"),
            ("http://example.com:8080/x", "https://example.com:8080/x"),
            ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
            ("https://example.com/a/../b", "https://example.com/b"),
            ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
        ] {
            assert_eq!(PageUrl::parse(text, &policy).unwrap().as_str(), expected, "{text}");
        }
        for (text, problem) in [
            ("example.com", "whole address"),
            ("file:///etc/passwd", "must begin"),
            ("ftp://example.com", "must begin"),
            ("https://user@example.com/", "user name"),
            ("https://:x@example.com/", "user name"),
            ("https://b\u{fc}cher.de/", "write https://xn--bcher-kva.de/"),
            ("https://ex%61mple.com/", "write https://example.com/"),
            ("https://example.com./", "two ways"),
            ("https:example.com", "write https://example.com/"),
            ("https:\\\\example.com\\a", "write https://example.com/a"),
            ("http://2130706433/", "write http://127.0.0.1/"),
            ("http://0x7f.1/", "write http://127.0.0.1/"),
            ("https://good.com\\@evil.com/", "write https://good.com/@evil.com"),
            ("https://exa\tmple.com/", "write https://example.com/"),
            ("https:///example.com/", "write https://example.com/"),
        ] {
            let error = PageUrl::parse(text, &policy).unwrap_err();
            assert!(error.model_text().contains(problem), "{text}: {}", error.model_text());
        }
    }
}
