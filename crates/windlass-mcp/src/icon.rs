//! Icons of servers and of their tools, prompts and resources.

use crate::text::clipped;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum numbers of icons of one thing and of sizes of an icon.
const MAX_ICONS: usize = 8;
const MAX_SIZES: usize = 16;
/// Maximum length of an icon's address, in bytes: a `data:` address holds the icon itself.
const MAX_ADDRESS_BYTES: usize = 16 * 1024;
/// Maximum length of the other texts of an icon, in characters.
const MAX_TEXT_CHARS: usize = 100;

/// Icon, as a server describes it. Never fetched here. Untrusted: a client that shows it fetches from the server's own
/// origin alone, without cookies, and runs no scripts of an SVG.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpIcon {
    /// Address: `https:`, `http:` or `data:`, at most 16 KiB.
    pub src: String,
    /// Media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes, such as `48x48` or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// Theme of the icon: `light` or `dark`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

/// Returns the usable icons of a list, at most eight.
pub(crate) fn icons(listed: &Value) -> Vec<McpIcon> {
    listed.as_array().into_iter().flatten().filter_map(icon).take(MAX_ICONS).collect()
}

/// Returns the usable icons of a deserialized list.
pub(crate) fn icons_of(listed: &impl Serialize) -> Vec<McpIcon> {
    serde_json::to_value(listed).map(|listed| icons(&listed)).unwrap_or_default()
}

fn icon(entry: &Value) -> Option<McpIcon> {
    let text = |value: &Value| value.as_str().map(|text| clipped(text, MAX_TEXT_CHARS));
    let src = entry.get("src")?.as_str()?;
    let (scheme, _) = src.split_once(':')?;
    let is_usable = ["https", "http", "data"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if !is_usable || src.len() > MAX_ADDRESS_BYTES || src.chars().any(char::is_control) {
        return None;
    }
    let sizes = entry.get("sizes").and_then(Value::as_array).into_iter().flatten();
    Some(McpIcon {
        src: src.to_owned(),
        mime_type: entry.get("mimeType").and_then(text),
        sizes: sizes.filter_map(text).take(MAX_SIZES).collect(),
        theme: entry.get("theme").and_then(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn icons_are_kept_if_they_have_an_address_that_can_be_shown() {
        let kept = icons(&json!([
            { "src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48", 7], "theme": "dark" },
            { "src": "data:image/png;base64,AAAA" },
            { "src": "javascript:alert(1)" },
            { "src": "file:///etc/passwd" },
            { "src": "https://a.example/\nx" },
            { "src": "no scheme" },
            { "src": format!("data:{}", "x".repeat(MAX_ADDRESS_BYTES)) },
            { "mimeType": "image/png" },
            7,
        ]));
        let shown = serde_json::to_value(&kept).unwrap();
        let first =
            json!({ "src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark" });
        assert_eq!(shown, json!([first, { "src": "data:image/png;base64,AAAA" }]));
        assert_eq!(icons(&json!(vec![json!({ "src": "https://a.example/" }); 20])).len(), MAX_ICONS);
        assert_eq!(icons(&json!({ "src": "https://a.example/" })), []);
    }
}
