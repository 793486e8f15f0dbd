//! Names that models and permission rules can use.

use std::collections::{BTreeSet, HashMap};
use windlass_types::mcp_name::{marked_tool, tool};

/// Returns the whole names of a server's tools, in the same order. Valid names stay unchanged, whatever the order;
/// others get a distinguishing mark.
pub(crate) fn tool_names<'a>(server: &str, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let raw: Vec<&str> = tools.into_iter().collect();
    let mut claims: HashMap<String, BTreeSet<&str>> = HashMap::new();
    for name in &raw {
        claims.entry(tool(server, name)).or_default().insert(name);
    }
    let named = raw.iter().map(|name| {
        let full_name = tool(server, name);
        let claimed_by_others = claims.get(&full_name).is_some_and(|all| all.len() > 1);
        // Every whole name ends with an empty name.
        let is_fit = !name.is_empty() && full_name.ends_with(&format!("__{name}"));
        if !claimed_by_others || is_fit {
            return full_name;
        }
        // A valid name takes precedence over a marked name that looks like it.
        let mut distinct_name = marked_tool(server, name, name);
        for again in 0..raw.len() {
            if !claims.contains_key(&distinct_name) {
                break;
            }
            distinct_name = marked_tool(server, name, &format!("{name} {again}"));
        }
        distinct_name
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;
    use windlass_types::mcp_name::{is_usable, meant, server};

    #[test]
    fn fit_names_stay_and_others_give_way() {
        for (configured, expected) in [("calc", "calc"), ("my server", "my_server"), ("_c", "c"), ("a (b)", "a_b")] {
            assert_eq!(server(configured), expected);
        }
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
    fn a_name_that_is_empty_is_no_other_one() {
        let names = tool_names("s", ["_", ""]);
        assert_eq!(names[0], "mcp__s___");
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn a_name_that_looks_like_a_mark_takes_no_name_from_others() {
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
            let names: HashSet<String> = servers.iter().filter(|name| is_usable(name)).map(|name| server(name)).collect();
            let mut seen = HashSet::new();
            for server in &names {
                prop_assert!(!server.contains("__") && !server.ends_with('_') && !server.starts_with('_'), "{}", server);
                for name in tool_names(server, tools.iter().map(String::as_str)) {
                    prop_assert!(name.len() <= 64, "{}", name);
                    prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
                    prop_assert!(seen.insert(name));
                }
            }
        }

        /// A rule means the tool both by its configured name and by the name that the model knows.
        #[test]
        fn a_rule_means_a_tool_by_both_of_its_names(
            configured in "[a-zA-Z0-9_ .é-]{1,40}",
            tools in proptest::collection::btree_set("[a-zA-Z0-9_ .é!-]{1,90}", 1..4),
        ) {
            prop_assume!(is_usable(&configured));
            let known = server(&configured);
            prop_assert_eq!(server(&known), known.clone());
            prop_assert_eq!(meant(&format!("mcp__{configured}")), [format!("mcp__{known}")]);
            let names = tool_names(&known, tools.iter().map(String::as_str));
            for (own, whole) in tools.iter().zip(&names) {
                prop_assert!(meant(whole).contains(whole), "{whole}");
                let rule = format!("mcp__{configured}__{own}");
                prop_assert!(meant(&rule).contains(whole), "{rule}: {whole}");
            }
        }
    }
}
