//! Names of MCP servers and their tools as models know them, for tool sets, rules and lists of tools.
//!
//! The configuration names a server, and the server names its tools. A model knows a tool as `mcp__server__tool`, of
//! letters, digits, `-` and `_`. All code that makes such a name or reads a rule about it uses the functions here, so a
//! rule may use either name.

/// Prefix of the names of all MCP tools.
pub const PREFIX: &str = "mcp__";
/// Maximum length of a tool's name, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Maximum length of the part that names the server, in bytes.
const MAX_SERVER_BYTES: usize = 32;
/// Number of characters of the mark that keeps two names apart.
const MARK: usize = 6;

/// Returns `true` if a server may have this name: at most 256 bytes, at least one letter or digit, and unambiguous in
/// rules. Two underscores in a row and a trailing underscore are not allowed, since `mcp__a__b` is the tool `b` of the
/// server `a`.
///
/// ```
/// use windlass_types::mcp_name::is_usable;
///
/// assert!(is_usable("my server") && is_usable("_c"));
/// assert!(!is_usable("a__b") && !is_usable("a_") && !is_usable(" "));
/// ```
pub fn is_usable(server: &str) -> bool {
    let is_apart = !server.contains("__") && !server.ends_with('_');
    is_apart && server.len() <= 256 && server.chars().any(|c| c.is_ascii_alphanumeric())
}

/// Returns the name of a server as it stands in the names of its tools. A valid name stays unchanged.
///
/// ```
/// use windlass_types::mcp_name::server;
///
/// assert_eq!(server("files"), "files");
/// assert_eq!(server("my server"), "my_server");
/// ```
pub fn server(configured: &str) -> String {
    let mut name = String::with_capacity(configured.len());
    for c in fit(configured).chars() {
        if !(c == '_' && name.ends_with('_')) {
            name.push(c);
        }
    }
    shortened(name.trim_matches('_'), configured, MAX_SERVER_BYTES)
}

/// Returns the whole name of a tool, if no other tool of its server claims it. `server` is a result of [`server`].
pub fn tool(server: &str, tool: &str) -> String {
    let (prefix, room) = room(server);
    format!("{prefix}{}", shortened(&fit(tool), tool, room))
}

/// Returns the whole name of a tool whose plain name another tool of its server claims: with a mark that depends on
/// `from`, which is the tool's own name, and more if that is taken too.
pub fn marked_tool(server: &str, tool: &str, from: &str) -> String {
    let (prefix, room) = room(server);
    format!("{prefix}{}", marked(&fit(tool), from, room))
}

/// Returns the names that a rule may mean. The rule begins with [`PREFIX`] and has no `*`; its names may be those of
/// the model or those of the configuration. Empty if the rule names no server.
///
/// ```
/// use windlass_types::mcp_name::meant;
///
/// assert_eq!(meant("mcp__my server"), ["mcp__my_server"]);
/// assert_eq!(meant("mcp__files__read"), ["mcp__files__read"]);
/// assert!(meant("mcp__").is_empty());
/// ```
pub fn meant(rule: &str) -> Vec<String> {
    let Some(rest) = rule.strip_prefix(PREFIX) else { return Vec::new() };
    let (configured, tool_part) = rest.split_once("__").map_or((rest, None), |(server, tool)| (server, Some(tool)));
    let name = server(configured);
    match tool_part {
        _ if name.is_empty() => Vec::new(),
        None => vec![format!("{PREFIX}{name}")],
        Some(tool_part) => {
            let whole = tool(&name, tool_part);
            let may_be_marked = !whole.ends_with(&format!("__{tool_part}"));
            let marked = may_be_marked.then(|| marked_tool(&name, tool_part, tool_part));
            std::iter::once(whole).chain(marked).collect()
        }
    }
}

/// Returns a rule with `*` in which the literal parts are written as models know them.
///
/// ```
/// use windlass_types::mcp_name::pattern;
///
/// assert_eq!(pattern("mcp__my server__get *"), "mcp__my_server__get_*");
/// assert_eq!(pattern("mcp__my *"), "mcp__my_*");
/// ```
pub fn pattern(rule: &str) -> String {
    let fitted = |text: &str| text.split('*').map(letters).collect::<Vec<_>>().join("*");
    let named = rule.strip_prefix(PREFIX).and_then(|rest| rest.split_once("__"));
    match named.filter(|(server, _)| !server.contains('*')) {
        Some((configured, tools)) => format!("{PREFIX}{}__{}", server(configured), fitted(tools)),
        None => fitted(rule),
    }
}

/// Returns the prefix before a tool's own name, and the maximum length of that name in bytes.
fn room(server: &str) -> (String, usize) {
    let prefix = format!("{PREFIX}{server}__");
    let room = MAX_NAME_BYTES.saturating_sub(prefix.len());
    (prefix, room)
}

fn letters(raw: &str) -> String {
    raw.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn fit(raw: &str) -> String {
    let fitted = letters(raw);
    if fitted.is_empty() { "_".to_owned() } else { fitted }
}

fn shortened(fitted: &str, raw: &str, room: usize) -> String {
    if fitted.len() <= room { fitted.to_owned() } else { marked(fitted, raw, room) }
}

/// Returns a name with a mark of the raw name that it was made from.
fn marked(fitted: &str, raw: &str, room: usize) -> String {
    let stem: String = fitted.chars().take(room.saturating_sub(MARK + 1)).collect();
    format!("{}_{}", stem.trim_end_matches('_'), mark(raw))
}

/// Six letters and digits that depend on the whole name (FNV-1a).
fn mark(raw: &str) -> String {
    let hash = raw
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{:06x}", (hash ^ (hash >> 32)) & 0x00ff_ffff)
}
