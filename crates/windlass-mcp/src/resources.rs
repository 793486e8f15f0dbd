//! Resources that servers offer.

use crate::icon::icons;
use crate::text::clipped;
use crate::{McpError, McpIcon, McpServerState, McpServers};
use serde::{Deserialize, Serialize};
use windlass_types::JsonText;

/// Maximum lengths of a name, an address and a description, in characters.
const MAX_NAME_CHARS: usize = 300;
const MAX_URI_CHARS: usize = 4_000;
const MAX_DESCRIPTION_CHARS: usize = 1_000;
/// Maximum numbers of resources of one server and of pages of its list.
const MAX_RESOURCES: usize = 500;
const MAX_PAGES: usize = 20;

/// Resource that a server offers, or a template of resources. Its texts are the server's own: untrusted, and bounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpResource {
    /// Address of the resource, or the template of addresses (RFC 6570).
    #[serde(flatten)]
    pub address: McpResourceAddress,
    /// Name of the resource.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Icons, for people. Never fetched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<McpIcon>,
    /// Name of the server.
    pub server: String,
}

/// Address of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum McpResourceAddress {
    /// Address of one resource.
    Uri(String),
    /// Template of the addresses of similar resources: the parts in braces are to be filled in.
    UriTemplate(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourcePage {
    #[serde(default, alias = "resourceTemplates")]
    resources: Vec<JsonText>,
    #[serde(default)]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedResource {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    uri_template: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    icons: serde_json::Value,
}

impl ListedResource {
    /// Returns the resource of a server; `None` if the entry has no usable address.
    fn of_server(self, server: &str) -> Option<McpResource> {
        let address = match (self.uri, self.uri_template) {
            (Some(uri), _) => McpResourceAddress::Uri(uri),
            (None, Some(template)) => McpResourceAddress::UriTemplate(template),
            (None, None) => return None,
        };
        let (McpResourceAddress::Uri(text) | McpResourceAddress::UriTemplate(text)) = &address;
        if text.is_empty() || text.chars().count() > MAX_URI_CHARS {
            return None;
        }
        let name = clipped(&self.name.unwrap_or_default(), MAX_NAME_CHARS);
        let optional =
            |text: Option<String>, most| text.filter(|text| !text.is_empty()).map(|text| clipped(&text, most));
        Some(McpResource {
            name: if name.is_empty() { clipped(text, MAX_NAME_CHARS) } else { name },
            title: optional(self.title, MAX_NAME_CHARS),
            description: optional(self.description, MAX_DESCRIPTION_CHARS),
            mime_type: optional(self.mime_type, MAX_NAME_CHARS),
            icons: icons(&self.icons),
            server: server.to_owned(),
            address,
        })
    }
}

impl McpServers {
    /// Returns the names of the connected servers that have resources, sorted.
    #[must_use]
    pub fn servers_with_resources(&self) -> Vec<String> {
        let connected = self.status().into_iter().filter(|server| server.state == McpServerState::Connected);
        connected.map(|server| server.name).filter(|name| self.has_resources(name)).collect()
    }

    /// Lists the resources of a server, followed by its resource templates. At most 500 of each. Cancel safe.
    ///
    /// # Errors
    /// Fails if there is no such server, it cannot be reached, or it does not list its resources.
    pub async fn resources(&self, server: &str) -> Result<Vec<McpResource>, McpError> {
        let mut resources = self.listed(server, "resources/list").await?;
        match self.listed(server, "resources/templates/list").await {
            Ok(templates) => resources.extend(templates),
            // Most servers have no templates, and some do not know the request.
            Err(error) => tracing::debug!(server, %error, "an MCP server does not list templates of resources"),
        }
        Ok(resources)
    }

    async fn listed(&self, server: &str, method: &str) -> Result<Vec<McpResource>, McpError> {
        let (mut resources, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let params =
                cursor.take().map_or_else(|| serde_json::json!({}), |cursor| serde_json::json!({ "cursor": cursor }));
            let page = self.request(server, method, params).await?;
            let page: ResourcePage = page.to().map_err(|_| McpError::bad_answer(server))?;
            let listed = page.resources.iter().filter_map(|entry| entry.to::<ListedResource>().ok());
            resources.extend(listed.filter_map(|entry| entry.of_server(server)));
            cursor = page.next_cursor.filter(|next| !next.is_empty());
            if cursor.is_none() || resources.len() >= MAX_RESOURCES {
                break;
            }
        }
        resources.truncate(MAX_RESOURCES);
        Ok(resources)
    }

    /// Reads a resource of a server and returns the result unchanged. Cancel safe.
    ///
    /// # Errors
    /// Fails if there is no such server, it cannot be reached, or it has no such resource.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<JsonText, McpError> {
        self.request(server, "resources/read", serde_json::json!({ "uri": uri })).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(entry: serde_json::Value) -> Option<serde_json::Value> {
        let listed: ListedResource = serde_json::from_value(entry).unwrap();
        listed.of_server("s").map(|resource| serde_json::to_value(resource).unwrap())
    }

    #[test]
    fn resources_are_written_as_hosts_know_them() {
        for (entry, expected) in [
            (json!({ "uri": "file:///a", "name": "a" }), json!({ "uri": "file:///a", "name": "a", "server": "s" })),
            (
                json!({ "uriTemplate": "x://{id}", "name": "x", "mimeType": "text/plain", "description": "d", "icons": [] }),
                json!({ "uriTemplate": "x://{id}", "name": "x", "mimeType": "text/plain", "description": "d", "server": "s" }),
            ),
            (
                json!({ "uri": "u", "description": "", "icons": [{ "src": "https://a.example/i", "x": 1 }, 7] }),
                json!({ "uri": "u", "name": "u", "server": "s", "icons": [{ "src": "https://a.example/i" }] }),
            ),
        ] {
            assert_eq!(read(entry.clone()), Some(expected), "{entry}");
        }
    }

    #[test]
    fn what_cannot_be_read_by_it_is_left_out_and_texts_are_bounded() {
        assert_eq!(read(json!({ "name": "a" })), None);
        assert_eq!(read(json!({ "uri": "" })), None);
        assert_eq!(read(json!({ "uri": "x".repeat(MAX_URI_CHARS + 1) })), None);
        let long = read(json!({ "uri": "u", "name": "n".repeat(9999), "description": "d".repeat(9999) })).unwrap();
        assert_eq!(long["name"].as_str().unwrap().chars().count(), MAX_NAME_CHARS + 1);
        assert_eq!(long["description"].as_str().unwrap().chars().count(), MAX_DESCRIPTION_CHARS + 1);
    }
}
