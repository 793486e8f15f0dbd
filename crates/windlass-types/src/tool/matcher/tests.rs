use super::*;

#[test]
fn items_mean_tools_and_servers() {
    for (item, tool, means) in [
        ("Read", "Read", true),
        ("Read", "ReadMore", false),
        ("read", "Read", false),
        ("*", "Read", true),
        ("*", "mcp__a__x", true),
        ("mcp__a", "mcp__a__x", true),
        ("mcp__a", "mcp__a", false),
        ("mcp__a", "mcp__ab__x", false),
        ("mcp__a", "mcp__a_x", false),
        ("mcp__a", "mcp__a___x", true),
        ("mcp__a__*", "mcp__a__x", true),
        ("mcp__a__*", "mcp__ab__x", false),
        ("mcp__a__x", "mcp__a__x", true),
        ("mcp__a__x", "mcp__a__xy", false),
        ("mcp__a__x", "mcp__a__x__y", false),
        ("mcp__a__x*", "mcp__a__xy", true),
        ("mcp__*", "mcp__a__x", true),
        ("mcp__*", "Read", false),
    ] {
        assert_eq!(ToolMatcher::new(item).unwrap().matches(tool), means, "{item} {tool}");
    }
}

#[test]
fn what_can_never_match_is_an_error_that_names_it() {
    for (text, named, problem) in [
        ("", "\"\"", "names no tool"),
        ("  ", "\"\"", "names no tool"),
        ("Write|", "\"\"", "names no tool"),
        ("mcp__", "\"mcp__\"", "no MCP server"),
        ("mcp__a_", "\"mcp__a_\"", "no MCP server"),
        ("mcp____*", "\"mcp____*\"", "no MCP server"),
        ("Re*", "\"Re*\"", "stands alone"),
        ("*Edit", "\"*Edit\"", "stands alone"),
        ("**", "\"**\"", "stands alone"),
        ("mcp__*__read", "\"mcp__*__read\"", "stands alone"),
        ("^Bash$", "\"^Bash$\"", "no name of a tool has '^'"),
        ("mcp__a__.*", "\"mcp__a__.*\"", "no name of a tool has '.'"),
        ("Bash(git *)", "\"Bash(git *)\"", "stands alone"),
        ("Edit Write", "\"Edit Write\"", "no name of a tool has ' '"),
        ("Bash|é", "\"é\"", "no name of a tool has 'é'"),
    ] {
        let error = ToolMatcher::list(text).unwrap_err().to_string();
        assert!(error.contains(named) && error.contains(problem), "{text}: {error}");
    }
}

#[test]
fn a_list_has_an_item_for_each_part() {
    let list = ToolMatcher::list(" Write | Edit,mcp__a__*|*").unwrap();
    let texts: Vec<String> = list.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["Write", "Edit", "mcp__a__*", "*"]);
    assert_eq!(list.iter().map(ToolMatcher::tool).collect::<Vec<_>>(), [Some("Write"), Some("Edit"), None, None]);
    assert!(list.iter().map(ToolMatcher::is_all).eq([false, false, false, true]));
}

#[test]
fn an_exact_name_is_no_pattern() {
    assert!(!ToolMatcher::exact("*").matches("Read"));
    assert!(!ToolMatcher::exact("mcp__a").matches("mcp__a__x"));
    assert!(ToolMatcher::exact("a b").matches("a b"));
}

#[test]
fn a_server_with_a_long_name_is_meant_as_models_know_it() {
    let long = "a-server-whose-name-is-longer-than-names-of-tools-allow";
    let known = mcp_name::tool(&mcp_name::server(long), "read");
    for item in [format!("mcp__{long}"), format!("mcp__{long}__*"), format!("mcp__{long}__read"), known.clone()] {
        assert!(ToolMatcher::new(&item).unwrap().matches(&known), "{item} {known}");
    }
    assert!(ToolMatcher::new("mcp___c__read").unwrap().matches("mcp__c__read"), "no name begins with `_`");
}
