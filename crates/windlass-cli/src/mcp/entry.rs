//! Entry of a server: built from the command line, checked, and shown without secrets.

use super::command::{AddArgs, Transport};
use crate::failure::Usage;
use crate::terminal::masks;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use windlass::JsonText;
use windlass::mcp::is_usable_name;
use windlass::mcp::parse_config;
use windlass::mcp::{McpServerConfig, McpTransport};

/// The members of an entry, in the order in which people write them.
#[derive(Debug, Default, Serialize)]
pub(super) struct Entry {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lazy: bool,
}

impl Entry {
    /// Sets whether the server is started at its first call.
    pub(super) fn lazy(mut self, on: bool) -> Self {
        self.lazy = on;
        self
    }

    /// A program.
    pub(super) fn program(command: String, args: Vec<String>, env: BTreeMap<String, String>) -> Self {
        Self { kind: "stdio", command: Some(command), args, env, ..Self::default() }
    }

    /// An address.
    pub(super) fn address(kind: &'static str, url: String, headers: BTreeMap<String, String>) -> Self {
        Self { kind, url: Some(url), headers, ..Self::default() }
    }

    pub(super) fn json(&self) -> anyhow::Result<JsonText> {
        Ok(JsonText::of(self)?)
    }
}

/// Returns the entry that a command line describes.
pub(super) fn of_arguments(args: &AddArgs) -> Result<Entry, Usage> {
    let mut words = args.target.iter().chain(&args.program).cloned();
    let first = words.next().filter(|word| !word.is_empty());
    let first = first.ok_or_else(|| Usage("give a program, `-- PROGRAM ARGS..`, or an address".to_owned()))?;
    let rest: Vec<String> = words.collect();
    let is_address = args.program.is_empty() && (first.starts_with("http://") || first.starts_with("https://"));
    match args.transport.unwrap_or(if is_address { Transport::Http } else { Transport::Stdio }) {
        Transport::Stdio => {
            if is_address {
                return Err(Usage(format!("{first} is an address: --transport is http or sse")));
            }
            refuse(args.header.first(), "--header belongs to a server with an address")?;
            let env = args.env.iter().map(|given| variable(given)).collect::<Result<_, _>>()?;
            Ok(Entry::program(first, rest, env))
        }
        remote => {
            refuse(args.env.first(), "--env belongs to a server that is a program")?;
            refuse(rest.first(), "an address takes no arguments")?;
            let headers = args.header.iter().map(|given| header(given)).collect::<Result<_, _>>()?;
            Ok(Entry::address(if remote == Transport::Sse { "sse" } else { "http" }, first, headers))
        }
    }
}

fn refuse(given: Option<&String>, why: &str) -> Result<(), Usage> {
    given.map_or(Ok(()), |_| Err(Usage(why.to_owned())))
}

/// Parses `NAME=VALUE`.
fn variable(given: &str) -> Result<(String, String), Usage> {
    let wrong = || Usage("--env takes NAME=VALUE; the name has letters, digits and _".to_owned());
    let (name, value) = given.split_once('=').ok_or_else(wrong)?;
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name { Ok((name.to_owned(), value.to_owned())) } else { Err(wrong()) }
}

/// Parses `NAME: VALUE`.
fn header(given: &str) -> Result<(String, String), Usage> {
    let wrong = || Usage("--header takes 'NAME: VALUE', on one line".to_owned());
    let (name, value) = given.split_once(':').ok_or_else(wrong)?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let fits = !name.is_empty() && name.bytes().all(is_token) && !value.chars().any(char::is_control);
    if fits { Ok((name.to_owned(), value.to_owned())) } else { Err(wrong()) }
}

/// Checks a name.
pub(super) fn check_name(name: &str) -> Result<(), Usage> {
    if is_usable_name(name) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let why = "it needs a letter or digit, at most 256 bytes, no two underscores in a row and none at the end";
    Err(Usage(format!("{name:?} cannot be the name of a server: {why}")))
}

/// Returns the server configuration of an entry, if it can be used. Its variables need not be set.
///
/// # Errors
/// The reason why the entry cannot be used.
pub(super) fn check(name: &str, entry: &JsonText) -> Result<McpServerConfig, String> {
    let document = format!("{{\"mcpServers\":{{{}:{}}}}}", Value::from(name), entry.as_str());
    let read = parse_config(&document, |name| Some(format!("${{{name}}}"))).map_err(|error| error.to_string())?;
    let (_, config) = read.into_iter().next().ok_or("it holds no server")?;
    let config = config.map_err(|error| error.to_string())?;
    match &config.transport {
        McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => check_address(url)?,
        McpTransport::InProcess(_) => return Err("a file cannot bring a server that is inside a program".to_owned()),
        _ => {}
    }
    Ok(config)
}

fn check_address(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    // A variable may contain the whole address.
    if url.starts_with("${") {
        return Ok(());
    }
    let rest = rest.ok_or("its address begins with neither https:// nor http://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || host.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("its address has no host".to_owned());
    }
    if host.contains('@') {
        return Err("its address holds a name or password: give them as a header".to_owned());
    }
    Ok(())
}

/// Returns the names of an entry's values that look like secrets.
pub(super) fn secrets(entry: &JsonText) -> Vec<String> {
    let Ok(Value::Object(members)) = entry.to::<Value>() else { return Vec::new() };
    let inner = ["env", "headers"].into_iter().filter_map(|key| members.get(key).and_then(Value::as_object));
    let holds_one = |value: &Value| {
        value.as_str().is_some_and(|text| !text.contains("${") && windlass::text::secret_in(text).is_some())
    };
    inner.flatten().filter(|(_, value)| holds_one(value)).map(|(name, _)| name.clone()).collect()
}

/// Returns an entry whose values that look like secrets, by their form or by their names, are variables, and the names of
/// these.
pub(super) fn without_secrets(entry: &JsonText) -> (JsonText, Vec<String>) {
    const NAMES: [&str; 6] = ["AUTH", "CREDENTIAL", "KEY", "PASSW", "SECRET", "TOKEN"];
    let by_form = secrets(entry);
    let Ok(Value::Object(mut members)) = entry.to::<Value>() else { return (entry.clone(), Vec::new()) };
    let mut variables = Vec::new();
    for key in ["env", "headers"] {
        for (name, value) in members.get_mut(key).and_then(Value::as_object_mut).into_iter().flatten() {
            let upper = name.to_ascii_uppercase().replace('-', "_");
            let is_text = value.as_str().is_some_and(|text| !text.is_empty() && !text.contains("${"));
            if is_text && (by_form.contains(name) || NAMES.iter().any(|part| upper.contains(part))) {
                *value = Value::from(format!("${{{upper}}}"));
                variables.push(upper);
            }
        }
    }
    if variables.is_empty() {
        return (entry.clone(), variables);
    }
    (JsonText::of(&Value::Object(members)).unwrap_or_else(|_| JsonText::empty_object()), variables)
}

/// Returns an entry for display, without the values of variables and headers, and without likely secrets in other
/// values.
pub(super) fn shown(entry: &JsonText) -> Value {
    let mut value = entry.to::<Value>().unwrap_or_default();
    let Some(members) = value.as_object_mut() else { return value };
    for key in ["env", "headers"] {
        if let Some(inner) = members.get_mut(key).and_then(Value::as_object_mut) {
            inner.values_mut().for_each(|value| *value = hidden(value));
        }
    }
    // The authorisation data of clients may be secret as a whole.
    for key in ["oauth", "auth"] {
        if let Some(inner) = members.get_mut(key) {
            *inner = Value::from("***");
        }
    }
    masked(&mut value);
    value
}

/// Hides a value, unless it consists of variables alone.
fn hidden(value: &Value) -> Value {
    let names_variable = value.as_str().is_some_and(|text| text.starts_with("${") && text.ends_with('}'));
    if names_variable { value.clone() } else { Value::from("***") }
}

fn masked(value: &mut Value) {
    match value {
        Value::String(text) => *text = masks().mask(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(masked),
        Value::Object(members) => members.values_mut().for_each(masked),
        _ => {}
    }
}

/// Returns the target of an entry, on one line.
pub(super) fn target(entry: &JsonText) -> String {
    let shown = shown(entry);
    let text = |key: &str| shown.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(url) = text("url") {
        return url;
    }
    let args = shown.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<String> = text("command").into_iter().chain(args.map(str::to_owned)).collect();
    words.join(" ")
}

/// Returns the kind of transport of an entry.
pub(super) fn kind(entry: &JsonText) -> String {
    let members: Map<String, Value> = entry.to().unwrap_or_default();
    let given = members.get("type").and_then(Value::as_str).map(str::to_owned);
    given.unwrap_or_else(|| if members.contains_key("url") { "http" } else { "stdio" }.to_owned())
}
