//! Names that models and permission rules can use.

use std::collections::{BTreeSet, HashMap};

/// Longest name of a tool.
const LONGEST: usize = 64;
/// Longest part of it that names the server.
const LONGEST_SERVER: usize = 32;
/// Characters of a mark that keeps two names apart.
const MARK: usize = 6;

/// Whether a server of this name can have tools.
pub(crate) fn is_valid(server: &str) -> bool {
    server.len() <= 256 && server.chars().any(|c| c.is_ascii_alphanumeric())
}

/// How servers are named in tool names: one name for each, in the same order.
///
/// A name that is fit already stays as it is. One that is not is made fit; if
/// the outcome is taken, it is marked. It never holds two underscores in a row
/// or ends in one, so that no server can pass for another in a rule such as
/// `mcp__other`.
pub(crate) fn server_names<'a>(servers: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    unique(servers, LONGEST_SERVER, fit_server)
}

/// The whole names of a server's tools, in the same order.
pub(crate) fn tool_names<'a>(server: &str, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let prefix = format!("mcp__{server}__");
    let names = unique(tools, LONGEST.saturating_sub(prefix.len()), fit);
    names.into_iter().map(|name| format!("{prefix}{name}")).collect()
}

/// Makes names fit and keeps them apart: fit ones first, whatever the order.
fn unique<'a>(names: impl IntoIterator<Item = &'a str>, room: usize, fit: impl Fn(&str) -> String) -> Vec<String> {
    let fitted = |raw: &str| {
        let fitted = fit(raw);
        if fitted.len() <= room { fitted } else { marked(&fitted, raw, room) }
    };
    let raw: Vec<&str> = names.into_iter().collect();
    let mut claims: HashMap<String, BTreeSet<&str>> = HashMap::new();
    for name in &raw {
        claims.entry(fitted(name)).or_default().insert(name);
    }
    let named = raw.iter().map(|name| {
        let short = fitted(name);
        let claimed_by_others = claims.get(&short).is_some_and(|all| all.len() > 1);
        if !claimed_by_others || short == *name {
            return short;
        }
        // A name that is fit keeps off every mark that looks like it.
        let mut apart = marked(&short, name, room);
        for again in 0..raw.len() {
            if !claims.contains_key(&apart) {
                break;
            }
            apart = marked(&short, &format!("{name} {again}"), room);
        }
        apart
    });
    named.collect()
}

/// A name with a mark of what it was made from.
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

fn fit(raw: &str) -> String {
    let fitted: String = raw.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if fitted.is_empty() { "_".to_owned() } else { fitted }
}

fn fit_server(raw: &str) -> String {
    let mut fitted = String::with_capacity(raw.len());
    for c in fit(raw).chars() {
        if !(c == '_' && fitted.ends_with('_')) {
            fitted.push(c);
        }
    }
    fitted.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn fit_names_stay_and_others_give_way() {
        for (servers, expected) in
            [(["calc", "x"], ["calc", "x"]), (["my server", "x"], ["my_server", "x"]), (["a__b", "_c_"], ["a_b", "c"])]
        {
            assert_eq!(server_names(servers), expected);
        }
        let names = server_names(["a.b", "a_b"]);
        assert_eq!(names[1], "a_b");
        assert!(names[0].starts_with("a_b_") && names[0].len() == 10, "{names:?}");
        assert_eq!(tool_names("calc", ["add", "do it!"]), ["mcp__calc__add", "mcp__calc__do_it_"]);
    }

    #[test]
    fn neither_order_nor_company_changes_a_fit_name() {
        let one = tool_names("s", ["x.y", "x_y", "x-y"]);
        let other = tool_names("s", ["x-y", "x_y", "x.y"]);
        assert_eq!(one.iter().rev().collect::<Vec<_>>(), other.iter().collect::<Vec<_>>());
        assert_eq!(one[1], "mcp__s__x_y");
    }

    #[test]
    fn a_name_that_looks_like_a_mark_takes_no_name_from_others() {
        let mark = server_names(["a.b", "a_b"]).swap_remove(0);
        let names = server_names(["a.b", "a_b", mark.as_str()]);
        assert_eq!((names[1].as_str(), names[2].as_str()), ("a_b", mark.as_str()));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 3, "{names:?}");
        // Nor does a tool of a server take the name of another one of its tools.
        let long = "x".repeat(80);
        let mark = tool_names("s", [long.as_str()]).swap_remove(0);
        let mark = mark.strip_prefix("mcp__s__").unwrap();
        let names = tool_names("s", [long.as_str(), mark]);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 2, "{names:?}");
        assert_eq!(names[1].strip_prefix("mcp__s__"), Some(mark));
    }

    proptest! {
        #[test]
        fn whole_names_are_valid_apart_and_cannot_pass_for_another_server(
            servers in proptest::collection::hash_set("[a-zA-Z0-9_ .é-]{1,40}", 1..5),
            tools in proptest::collection::hash_set("[a-zA-Z0-9_ .é-]{0,90}", 1..8),
        ) {
            let servers: Vec<&str> = servers.iter().map(String::as_str).filter(|name| is_valid(name)).collect();
            let names = server_names(servers.iter().copied());
            let mut seen = HashSet::new();
            for server in &names {
                prop_assert!(!server.contains("__") && !server.ends_with('_') && !server.starts_with('_'), "{}", server);
                for name in tool_names(server, tools.iter().map(String::as_str)) {
                    prop_assert!(name.len() <= LONGEST, "{}", name);
                    prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                    prop_assert!(seen.insert(name));
                }
            }
        }
    }
}
