//! Streamable HTTP.

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Largest event of a server.
const LARGEST_EVENT: usize = 16 * 1024 * 1024;

/// A transport to an endpoint, or what is wrong with the configuration.
pub(crate) fn http_transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    agent: &str,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let parsed = reqwest::Url::parse(url).map_err(|error| format!("its url is not valid: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
        return Err("its url is neither http nor https".to_owned());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("its url holds credentials; use `headers`".to_owned());
    }
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let header = reqwest::header::HeaderName::try_from(name.as_str())
            .map_err(|_| format!("the header name {name:?} is not valid"))?;
        let mut value = reqwest::header::HeaderValue::try_from(value.as_str())
            .map_err(|_| format!("the value of the header {name:?} is not valid"))?;
        value.set_sensitive(true);
        custom.insert(header, value);
    }
    let client = reqwest::Client::builder()
        .user_agent(agent)
        // A redirect would carry headers to where nobody said they may go.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(15))
        .build()
        .map_err(|error| error.to_string())?;
    let config =
        StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom).max_sse_event_size(LARGEST_EVENT);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn configurations_are_checked_before_anything_is_sent() {
        for (url, header, problem) in [
            ("x", "a", "not valid"),
            ("ftp://a.b/", "a", "neither http"),
            ("file:///etc/passwd", "a", "neither http"),
            ("https://user:word@a.b/", "a", "credentials"),
            ("https://a.b/", "a b", "header name"),
        ] {
            let headers = BTreeMap::from([(header.to_owned(), "v".to_owned())]);
            let error = http_transport(url, &headers, "t").err();
            assert!(error.as_ref().is_some_and(|error| error.contains(problem)), "{url}: {error:?}");
        }
        let headers = BTreeMap::from([("a".to_owned(), "line\nbreak".to_owned())]);
        assert!(http_transport("https://a.b/", &headers, "t").is_err_and(|error| error.contains("value")));
    }
}
