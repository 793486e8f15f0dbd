//! Translation of other clients' entries.

use super::client::Client;
use crate::mcp::entry::Entry;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use windlass::JsonText;

/// A server of another client.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) name: String,
    /// Entry here, or the reason why it cannot be copied.
    pub(super) entry: Result<JsonText, String>,
    /// Notes about parts that have no equivalent here.
    pub(super) notes: Vec<String>,
}

/// Members of clients' configurations that have the same meaning here, or only affect the client's display.
const KNOWN: [&str; 23] = [
    "bundled",
    "display_name",
    "timeout",
    "available_tools",
    "type",
    "transport",
    "transportType",
    "command",
    "args",
    "env",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "disabled",
    "enabled",
    "path",
    "source",
    "name",
    "description",
    "gallery",
    "version",
    "settings",
];

/// Reads the servers in the configuration of a client.
///
/// # Errors
/// The text is not such a configuration.
pub(super) fn translate(client: Client, text: &str) -> Result<Vec<Translated>, String> {
    let Value::Object(mut members) = client.document(text)? else { return Err("it is not a JSON object".to_owned()) };
    match members.remove(client.key()) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(servers)) => {
            Ok(servers.into_iter().map(|(name, entry)| translated(client, name, entry)).collect())
        }
        Some(_) => Err(format!("its `{}` is not an object", client.key())),
    }
}

fn translated(client: Client, name: String, entry: Value) -> Translated {
    let Value::Object(members) = usual_members(client, entry) else {
        return Translated { name, entry: Err("its entry is not an object".to_owned()), notes: Vec::new() };
    };
    let dropped: Vec<&str> = members.keys().map(String::as_str).filter(|key| !KNOWN.contains(key)).collect();
    let notes = match dropped.as_slice() {
        [] => Vec::new(),
        some => vec![format!("without {}, which have no place here or another meaning", some.join(", "))],
    };
    Translated { name, entry: entry_of(client, members), notes }
}

/// Returns an entry with the usual names of its members: those of Goose (`cmd`, `envs`, `uri`) and of Opencode (a `command` with
/// its arguments, `environment`, the types `local` and `remote`) become those of the others.
fn usual_members(client: Client, mut entry: Value) -> Value {
    let Some(members) = entry.as_object_mut() else { return entry };
    for (name, usual) in [("cmd", "command"), ("envs", "env"), ("environment", "env"), ("uri", "url")] {
        if let Some(value) = members.remove(name) {
            members.entry(usual).or_insert(value);
        }
    }
    if members.get("type").and_then(Value::as_str).is_some_and(|kind| matches!(kind, "local" | "remote")) {
        members.remove("type");
    }
    let has_words = client == Client::Opencode && !members.contains_key("args");
    if let Some(Value::Array(words)) = members.get_mut("command").filter(|_| has_words) {
        let mut words = std::mem::take(words).into_iter();
        let command = words.next().unwrap_or_default();
        members.insert("command".to_owned(), command);
        members.insert("args".to_owned(), words.collect());
    }
    entry
}

#[derive(Deserialize)]
struct Given {
    #[serde(default, rename = "type", alias = "transport", alias = "transportType")]
    kind: Option<String>,
    #[serde(default)]
    command: Option<Command>,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    env: Option<BTreeMap<String, Scalar>>,
    #[serde(default, alias = "serverUrl")]
    url: Option<String>,
    #[serde(default, rename = "httpUrl")]
    http_url: Option<String>,
    #[serde(default)]
    headers: Option<BTreeMap<String, String>>,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    enabled: Option<bool>,
}

/// A program, alone or with its arguments and environment.
#[derive(Deserialize)]
#[serde(untagged)]
enum Command {
    Name(String),
    Whole {
        path: String,
        #[serde(default)]
        args: Option<Vec<String>>,
        #[serde(default)]
        env: Option<BTreeMap<String, Scalar>>,
    },
}

/// A scalar, as text in variables: numbers and booleans, too.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Truth(bool),
    Number(serde_json::Number),
}

impl Scalar {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Truth(truth) => truth.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

fn entry_of(client: Client, members: Map<String, Value>) -> Result<JsonText, String> {
    if members.get("type").and_then(Value::as_str).is_some_and(|kind| matches!(kind, "builtin" | "platform")) {
        return Err("it is a part of that program".to_owned());
    }
    let given: Given = serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string())?;
    if given.disabled || given.enabled == Some(false) {
        return Err("it is switched off there".to_owned());
    }
    let headers = texts(given.headers.unwrap_or_default())?;
    let address = |kind, url: &str| Ok::<_, String>(Entry::address(kind, text(url)?, headers.clone()));
    let entry = match (given.command, &given.http_url, &given.url) {
        (Some(Command::Name(command)), ..) => program(&command, given.args, given.env)?,
        (Some(Command::Whole { path, args, env }), ..) => program(&path, args, env)?,
        (None, Some(url), _) => address("http", url)?,
        (None, None, Some(url)) => address(remote_kind(client, given.kind.as_deref())?, url)?,
        (None, None, None) => return Err("it has neither a program nor an address".to_owned()),
    };
    entry.json().map_err(|error| error.to_string())
}

fn program(command: &str, args: Option<Vec<String>>, env: Option<BTreeMap<String, Scalar>>) -> Result<Entry, String> {
    let args = args.unwrap_or_default().iter().map(|arg| text(arg)).collect::<Result<_, _>>()?;
    let env = env.unwrap_or_default().into_iter().map(|(name, value)| (name, value.text())).collect();
    Ok(Entry::program(text(command)?, args, texts(env)?))
}

/// Returns the transport of an address. If clients do not state it, the older command of Gemini means server-sent
/// events.
fn remote_kind(client: Client, kind: Option<&str>) -> Result<&'static str, String> {
    match kind.map(str::to_ascii_lowercase).as_deref() {
        Some("http" | "streamable-http" | "streamable_http" | "streamablehttp") => Ok("http"),
        Some("sse") => Ok("sse"),
        None if client == Client::Gemini => Ok("sse"),
        None => Ok("http"),
        Some(other) => Err(format!("its transport {other:?} is not supported")),
    }
}

fn texts(given: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    given.into_iter().map(|(name, value)| Ok((name, text(&value)?))).collect()
}

/// Returns a text with the variables of editors in our own form. Variables that only an editor knows cannot be copied.
fn text(given: &str) -> Result<String, String> {
    let mut plain = String::new();
    // Opencode writes a variable without the dollar.
    let given = given.replace("${env:", "{env:").replace("{env:", "${env:");
    let mut rest = given.as_str();
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else { break };
        plain.push_str(before);
        match name.split_once(':') {
            Some(("env", variable)) => plain.push_str(&format!("${{{variable}}}")),
            Some(("input", _)) => {
                return Err(format!("it asks for a value there (${{{name}}}): add it with `windlass mcp add`"));
            }
            None if name == "userHome" => plain.push_str("${HOME}"),
            None if name == "pathSeparator" || name == "/" => plain.push(std::path::MAIN_SEPARATOR),
            None if name.starts_with("workspace") || name.starts_with("file") => {
                return Err(format!("it names what only that program knows (${{{name}}})"));
            }
            _ => plain.push_str(&format!("${{{name}}}")),
        }
        rest = after;
    }
    plain.push_str(rest);
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(client: Client, text: &str) -> BTreeMap<String, Result<String, String>> {
        let found = translate(client, text).unwrap().into_iter();
        found.map(|found| (found.name, found.entry.map(|entry| entry.as_str().to_owned()))).collect()
    }

    #[test]
    fn each_client_has_its_own_words() {
        let stdio = r#"{"type":"stdio","command":"npx","args":["-y","x"],"env":{"A":"1","B":"${TOKEN}"}}"#;
        let plain = r#"{"a":{"command":"npx","args":["-y","x"],"env":{"A":1,"B":"${env:TOKEN}"}}}"#;
        // Codex has its own format, and is tested with it.
        for client in Client::ALL.into_iter().filter(|client| *client != Client::Codex) {
            let text = format!("{{{:?}:{plain}}}", client.key());
            assert_eq!(entries(client, &text).remove("a").unwrap().as_deref(), Ok(stdio), "{client:?}");
        }
        let zed = r#"{"context_servers":{"a":{"source":"custom","command":{"path":"npx","args":["-y","x"],"env":{"A":"1","B":"${TOKEN}"}}}}}"#;
        assert_eq!(entries(Client::Zed, zed).remove("a").unwrap().as_deref(), Ok(stdio));
        let windsurf = r#"{"mcpServers":{"a":{"serverUrl":"https://h/mcp","headers":{"X":"y"}}}}"#;
        let expected = r#"{"type":"http","url":"https://h/mcp","headers":{"X":"y"}}"#;
        assert_eq!(entries(Client::Windsurf, windsurf).remove("a").unwrap().as_deref(), Ok(expected));
        let gemini = r#"{"mcpServers":{"a":{"url":"https://h/sse"},"b":{"httpUrl":"https://h/mcp"}}}"#;
        let found = entries(Client::Gemini, gemini);
        assert_eq!(found["a"].as_deref(), Ok(r#"{"type":"sse","url":"https://h/sse"}"#));
        assert_eq!(found["b"].as_deref(), Ok(r#"{"type":"http","url":"https://h/mcp"}"#));
    }

    #[test]
    fn names_of_goose_opencode_and_codex_are_known() {
        let stdio = r#"{"type":"stdio","command":"npx","args":["-y","x"],"env":{"A":"${TOKEN}"}}"#;
        let remote = r#"{"type":"http","url":"https://h/mcp"}"#;
        let goose = "extensions:\n  a:\n    type: stdio\n    cmd: npx\n    args: [-y, x]\n    envs: {A: '${TOKEN}'}\n  b:\n    type: streamable_http\n    uri: https://h/mcp\n  developer:\n    type: builtin\n";
        let opencode = r#"{"mcp":{"a":{"type":"local","command":["npx","-y","x"],"environment":{"A":"{env:TOKEN}"}},"b":{"type":"remote","url":"https://h/mcp"}}}"#;
        let codex = "[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\nenv = { A = \"${TOKEN}\" }\n[mcp_servers.b]\nurl = \"https://h/mcp\"\n";
        for (client, text) in [(Client::Goose, goose), (Client::Opencode, opencode), (Client::Codex, codex)] {
            let found = entries(client, text);
            assert_eq!(found["a"].as_deref(), Ok(stdio), "{client:?}");
            assert_eq!(found["b"].as_deref(), Ok(remote), "{client:?}");
        }
        assert!(entries(Client::Goose, goose)["developer"].is_err());
    }

    #[test]
    fn what_cannot_be_copied_says_why() {
        let text = r#"{"servers":{
            "off":{"command":"x","disabled":true}, "asks":{"command":"x","env":{"K":"${input:key}"}},
            "here":{"command":"${workspaceFolder}/x"}, "none":{}, "odd":7, "ws":{"type":"ws","url":"ws://h"},
            "wrong":{"command":["x"]}}}"#;
        let found = entries(Client::Vscode, text);
        for (name, part) in [
            ("off", "switched off"),
            ("asks", "${input:key}"),
            ("here", "workspaceFolder"),
            ("none", "neither"),
            ("odd", "not an object"),
            ("ws", "\"ws\""),
            ("wrong", "did not match"),
        ] {
            let why = found[name].as_ref().unwrap_err();
            assert!(why.contains(part), "{name}: {why}");
        }
        assert!(translate(Client::Vscode, "[]").is_err() && translate(Client::Vscode, "{\"servers\":[]}").is_err());
        assert!(translate(Client::Vscode, "{}").unwrap().is_empty());
    }

    #[test]
    fn what_is_left_behind_is_said() {
        let text = r#"{"mcpServers":{"a":{"command":"x","autoApprove":["b"],"envFile":".env"}}}"#;
        let found = translate(Client::Cline, text).unwrap();
        assert!(found[0].notes[0].contains("autoApprove, envFile"), "{:?}", found[0].notes);
    }
}
