//! Addresses of pages, in the one form in which they are judged and requested.

use ::url::Url;
use windlass_permission::network::{NetworkPolicy, Target, Verdict};
use windlass_tool::ToolError;

/// Maximum length of an address, in bytes.
const LONGEST: usize = 8_192;

/// Address that may be requested. Host and port are the judged ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageUrl {
    url: Url,
    target: Target,
}

impl PageUrl {
    /// Parses an address as the model writes it. Plain http becomes https, unless the policy names the host as one of
    /// this network.
    ///
    /// # Errors
    /// Fails if the text is no address of a page, or one that programs read differently. The error text gives a correct
    /// form.
    pub(super) fn parse(text: &str, policy: &NetworkPolicy) -> Result<Self, ToolError> {
        let text = text.trim();
        let refused = |why: &str| ToolError::invalid_input(format!("url {why}"));
        if text.len() > LONGEST {
            return Err(refused("is too long"));
        }
        let parsed =
            Url::parse(text).map_err(|_| refused("is not a whole address, such as https://example.com/page"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(refused("must begin with https:// or http://"));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(refused("must not have a user name or a password in it"));
        }
        // The rules of the session have judged the text; the request must have the host that they saw.
        let judged = Target::of_url(text);
        let mut url = parsed;
        url.set_fragment(None);
        let same = judged.filter(|judged| url.host_str() == Some(judged.host()));
        let Some(judged) = same else {
            let meant = url.as_str();
            return Err(refused(&format!("names its host in a form that can be read in two ways; write {meant}")));
        };
        upgrade(&mut url, &judged, policy);
        let target = Target::of_url(url.as_str()).ok_or_else(|| refused("names no host that can be reached"))?;
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

/// Changes plain http to https. A server that the policy names as one of this network usually has no certificate.
fn upgrade(url: &mut Url, target: &Target, policy: &NetworkPolicy) {
    let is_own = matches!(policy.judge(target), Verdict::Allowed(permission) if permission.allows_private());
    if url.scheme() == "http" && !is_own {
        // Never refused: both schemes are of the same kind. Without a port, that of https is used from now on.
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
