//! Tools that a server supplies with its sampling request: their form for the model, and the calls in the form for the
//! server.

use crate::schema::{self, Renamed, Usable, restore};
use crate::tools::{LONGEST_NAME, description};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use windlass_context::foreign_text;
use windlass_types::{ToolSpec, ToolUse};

/// Maximum number of tools of one request.
const MAX_TOOLS: usize = 64;
/// Maximum total length of the names, descriptions and schemas of one request's tools, in bytes.
const MAX_TOOLS_BYTES: usize = 256 * 1024;
/// Maximum length of a name that providers accept.
const MAX_NAME_BYTES: usize = 64;

/// Names by which the model knows the tools of a request, with the server's own names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OwnNames(BTreeMap<String, Own>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Own {
    name: String,
    renamed: Renamed,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct ToolParams {
    name: String,
    #[serde(default)]
    description: Option<String>,
    input_schema: Map<String, Value>,
}

impl OwnNames {
    /// Reads the tools of a request.
    ///
    /// # Errors
    /// Fails if the tools are too many or too large, or if one cannot be offered to a model.
    pub(super) fn read(tools: Vec<Value>) -> Result<(Self, Vec<ToolSpec>), String> {
        if tools.len() > MAX_TOOLS {
            return Err(format!("there are more than {MAX_TOOLS} tools"));
        }
        let (mut names, mut specs, mut bytes) = (Self::default(), Vec::new(), 0);
        for (at, tool) in tools.into_iter().enumerate() {
            let spec =
                names.add(tool).map_err(|problem| format!("the tool {} cannot be offered: {problem}", at + 1))?;
            bytes += spec.name.len() + spec.description.len() + spec.input_schema.as_str().len();
            if bytes > MAX_TOOLS_BYTES {
                return Err(format!("the tools have more than {MAX_TOOLS_BYTES} bytes together"));
            }
            specs.push(spec);
        }
        Ok((names, specs))
    }

    fn add(&mut self, tool: Value) -> Result<ToolSpec, String> {
        let tool: ToolParams = serde_json::from_value(tool).map_err(|error| error.to_string())?;
        check_name(&tool.name)?;
        if self.0.values().any(|added| added.name == tool.name) {
            return Err("its name occurs twice".to_owned());
        }
        let Usable { schema, renamed, note } = schema::usable(&tool.input_schema)?;
        let mut text = description(tool.description.as_deref().unwrap_or_default());
        if let Some(note) = note {
            text.push_str("\n\n");
            text.push_str(&foreign_text(&note));
        }
        Ok(ToolSpec::new(self.name(tool.name, renamed), text, schema))
    }

    /// Returns the name by which the model knows a tool. A tool that is no longer offered gets a name too, because the
    /// conversation holds calls of it.
    pub(super) fn known(&mut self, own: &str) -> Result<String, String> {
        check_name(own)?;
        match self.0.iter().find(|(_, known)| known.name == own) {
            Some((name, _)) => Ok(name.clone()),
            None => Ok(self.name(own.to_owned(), Renamed::new())),
        }
    }

    fn name(&mut self, own: String, renamed: Renamed) -> String {
        let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let fit: String = own.chars().map(|c| if is_fit(c) { c } else { '_' }).take(MAX_NAME_BYTES).collect();
        let numbered = (2..).map(|number: u32| {
            let end = format!("_{number}");
            fit.chars().take(MAX_NAME_BYTES - end.len()).chain(end.chars()).collect()
        });
        let mut free = std::iter::once(fit.clone()).chain(numbered).filter(|name: &String| !self.0.contains_key(name));
        let name = free.next().unwrap_or_default();
        self.0.insert(name.clone(), Own { name: own, renamed });
        name
    }

    /// Converts a call of the model to the form for the server.
    ///
    /// # Errors
    /// Fails if the input of the call is not an object.
    pub(super) fn call(&self, call: &ToolUse) -> Result<Value, String> {
        let input: Map<String, Value> =
            call.input.to().map_err(|_| "the model wrote a call whose input is no object".to_owned())?;
        let (name, input) = match self.0.get(&call.name) {
            Some(own) => (own.name.as_str(), restore(input, &own.renamed)),
            None => (call.name.as_str(), input),
        };
        Ok(json!({ "type": "tool_use", "id": call.id.as_str(), "name": name, "input": input }))
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(format!("its name is empty or has more than {LONGEST_NAME} bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::JsonText;

    fn tool(name: &str) -> Value {
        json!({ "name": name, "inputSchema": { "type": "object" } })
    }

    #[test]
    fn calls_go_back_under_the_names_of_the_server() {
        let long = "n".repeat(100);
        let own = ["plain", "a.b/c", "a_b_c", "名前", "__", &long, &format!("{long}!"), "mcp__other__tool"];
        let (names, specs) = OwnNames::read(own.iter().map(|name| tool(name)).collect()).unwrap();
        let cut = "n".repeat(64);
        let numbered = format!("{}_2", "n".repeat(62));
        let known: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(known, ["plain", "a_b_c", "a_b_c_2", "__", "___2", &cut, &numbered, "mcp__other__tool"]);
        for (known, own) in known.iter().zip(own) {
            let call = ToolUse::new("call-1", *known, JsonText::empty_object());
            let expected = json!({ "type": "tool_use", "id": "call-1", "name": own, "input": {} });
            assert_eq!(names.call(&call), Ok(expected));
        }
    }

    #[test]
    fn properties_go_back_under_the_names_of_the_server_too() {
        let tool = json!({ "name": "find", "inputSchema": { "properties": { "filter[id]": { "type": "string" } } } });
        let (names, specs) = OwnNames::read(vec![tool]).unwrap();
        assert!(specs[0].input_schema.as_str().contains("filter_id_"), "{:?}", specs[0]);
        let call = |input: &str| names.call(&ToolUse::new("c", "find", JsonText::parse(input).unwrap()));
        assert_eq!(call(r#"{"filter_id_":"7"}"#).unwrap()["input"], json!({ "filter[id]": "7" }));
        assert!(call("[1]").unwrap_err().contains("no object"));
        let other = names.call(&ToolUse::new("c", "made_up", JsonText::empty_object())).unwrap();
        assert_eq!(other["name"], "made_up");
    }

    #[test]
    fn tools_that_cannot_be_offered_refuse_the_request() {
        let large = |name: String| json!({ "name": name, "inputSchema": { "type": "object", "description": "x".repeat(60_000) } });
        for (tools, problem) in [
            (vec![tool("")], "tool 1 cannot be offered: its name is empty"),
            (vec![tool(&"x".repeat(257))], "more than 256 bytes"),
            (vec![tool("a"), tool("a")], "tool 2 cannot be offered: its name occurs twice"),
            (vec![json!({ "name": "a" })], "inputSchema"),
            (vec![json!(7)], "tool 1 cannot be offered"),
            (vec![json!({ "name": "a", "inputSchema": { "type": "array" } })], "not one of an object"),
            (vec![json!({ "name": "a", "inputSchema": { "type": "object", "properties": 7 } })], "not valid"),
            (
                vec![json!({ "name": "a", "inputSchema": { "description": "x".repeat(70_000) } })],
                "more than 65536 bytes",
            ),
            ((0..5).map(|number| large(number.to_string())).collect(), "more than 262144 bytes together"),
            ((0..65).map(|number| tool(&number.to_string())).collect(), "more than 64 tools"),
        ] {
            let refused = OwnNames::read(tools).unwrap_err();
            assert!(refused.contains(problem), "{problem}: {refused}");
        }
        assert_eq!(OwnNames::read((0..64).map(|number| tool(&number.to_string())).collect()).unwrap().1.len(), 64);
    }
}
