//! Hooks that post the event to a server.

use crate::definition::HttpHandler;
use crate::exit::Said;
use crate::output::read_output;
use crate::ports::{HookHost, HookRequest, HookResponse};
use std::collections::BTreeMap;
use windlass_hook::HookError;
use windlass_permission::network::UrlPattern;
use windlass_types::{HookOutcome, JsonText};

/// Maximum number of bytes of a response.
const MOST_BYTES: usize = 1024 * 1024;

/// Allowed URLs and header variables of hook requests: `allowedHttpHookUrls` and `httpHookAllowedEnvVars` of settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestRules {
    /// [Patterns](UrlPattern) of URLs; `None` for every URL.
    pub urls: Option<Vec<String>>,
    /// Names of variables; `None` for those that the hook itself names.
    pub variables: Option<Vec<String>>,
}

impl RequestRules {
    /// Creates rules that allow every request.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks a URL: `http` or `https`, without a user's name, and matching the list.
    ///
    /// # Errors
    /// The reason why the URL is not allowed.
    pub fn check(&self, url: &str) -> Result<(), String> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let Some(rest) = rest else { return Err("its URL must begin with https:// or http://".to_owned()) };
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let host = rest.get(..end).unwrap_or_default();
        if host.is_empty() || host.contains('@') || url.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return Err("its URL must name a host, without a user's name and without blanks".to_owned());
        }
        match &self.urls {
            Some(urls)
                if !urls.iter().filter_map(|text| UrlPattern::parse(text)).any(|pattern| pattern.matches(url)) =>
            {
                Err("its URL is not in `allowedHttpHookUrls`".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Posts an event and reads the answer.
pub(crate) async fn answer(
    handler: &HttpHandler,
    rules: &RequestRules,
    host: &dyn HookHost,
    said: &Said<'_>,
    input: &JsonText,
) -> Result<HookOutcome, HookError> {
    rules.check(&handler.url)?;
    let allowed = |name: &str| {
        let by_hook = handler.allowed_env_vars.iter().any(|known| known == name);
        by_hook && rules.variables.as_ref().is_none_or(|names| names.iter().any(|known| known == name))
    };
    let value = |name: &str| host.variable(name).filter(|_| allowed(name)).unwrap_or_default();
    let headers: BTreeMap<String, String> =
        handler.headers.iter().map(|(name, text)| (name.clone(), filled(text, &value))).collect();
    let request = HookRequest { url: handler.url.clone(), headers, body: input.clone(), most_bytes: MOST_BYTES };
    let response = host.post(request).await?;
    read(said, &response).map_err(Into::into)
}

/// Reads a server's response: an object, or an empty body.
fn read(said: &Said<'_>, response: &HookResponse) -> Result<HookOutcome, String> {
    if !(200..300).contains(&response.status) {
        return Err(format!("the server answered with status {}", response.status));
    }
    let body = response.body.trim();
    if body.is_empty() {
        return Ok(HookOutcome::default());
    }
    let object = JsonText::parse(body).map_err(|error| format!("its answer is not understood: {error}"))?;
    read_output(said.hook, said.call, &object, said.texts)
}

/// Returns a header with its variables filled in. A variable that is not allowed or not set is empty.
fn filled(text: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let braced = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let end = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
        match (braced, behind.split_at_checked(end)) {
            (Some((name, after)), _) if !name.is_empty() && name.chars().all(is_part) => {
                out.push_str(&value(name));
                rest = after;
            }
            (_, Some((name, after))) if !name.is_empty() => {
                out.push_str(&value(name));
                rest = after;
            }
            _ => {
                out.push('$');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    // A value with a line end would be a header of its own.
    out.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_checked() {
        let any = RequestRules::new();
        for url in ["https://h/x", "http://localhost:8080", "https://h?q=a@b"] {
            assert_eq!(any.check(url), Ok(()), "{url}");
        }
        for url in [
            "",
            "ftp://h",
            "https://",
            "https://u@h/",
            "https://u:p@h",
            "https://h/ x",
            "file:///etc/passwd",
            "https://\\@h",
        ] {
            assert!(any.check(url).is_err(), "{url}");
        }
        let some = RequestRules {
            urls: Some(vec!["https://hooks.example/*".into(), "https://*.own/a*z".into()]),
            variables: None,
        };
        for (url, expected) in [
            ("https://hooks.example/a", true),
            ("https://hooks.example.evil/a", false),
            ("https://b.own/a-z", true),
            ("https://b.own/az", true),
            ("https://b.own/b", false),
            ("http://hooks.example/a", false),
            ("https://127.0.0.1/x.own/az", false),
            ("https://127.0.0.1?.own/az", false),
        ] {
            assert_eq!(some.check(url).is_ok(), expected, "{url}");
        }
        let none = RequestRules { urls: Some(Vec::new()), variables: None };
        assert!(none.check("https://h").is_err());
    }

    #[test]
    fn headers_take_the_variables_that_are_allowed() {
        let value = |name: &str| if name == "TOKEN" { "se\ncret".to_owned() } else { String::new() };
        for (text, expected) in [
            ("Bearer $TOKEN", "Bearer secret"),
            ("Bearer ${TOKEN}!", "Bearer secret!"),
            ("$OTHER", ""),
            ("5$ and $", "5$ and $"),
            ("${TOKEN", "${TOKEN"),
            ("$TOKEN$TOKEN", "secretsecret"),
        ] {
            assert_eq!(filled(text, &value), expected, "{text}");
        }
    }
}
