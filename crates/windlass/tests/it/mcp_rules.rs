//! Rules about MCP servers and their tools, by the names that the configuration and the servers give them.

use std::collections::BTreeMap;
use std::sync::Arc;
use windlass::mcp::{McpError, McpOptions, McpServerConfig, McpServers};
use windlass::{Outcome, PermissionMode, Permissions, Script, ScriptedModel, query, tool_fn};
use windlass_tool::{DynTool, ToolSet};

fn config() -> McpServerConfig {
    let set = tool_fn("set", "Sets.", |_: BTreeMap<String, String>, _| async { Ok("was set") });
    McpServerConfig::tools("inside", ToolSet::new([Arc::new(set) as Arc<dyn DynTool>]).unwrap())
}

fn servers(name: &str) -> McpServers {
    let servers = McpServers::new(McpOptions::new());
    servers.add(name, config()).unwrap();
    servers
}

/// Returns `true` if a call of a server's tool ran, in the mode that only rules stop.
async fn runs(server: &str, tool: &str, permissions: Permissions) -> bool {
    let script = Script::new().turn(|turn| turn.tool_use(tool, serde_json::json!({}))).turn(|turn| turn.text("Done."));
    let model = ScriptedModel::new(script);
    let permissions = permissions.allow_bypass().mode(PermissionMode::BypassPermissions);
    let asked = query("?").provider(model.clone()).mcp_servers(servers(server)).permissions(permissions);
    let result = asked.await.unwrap();
    assert_eq!(result.outcome, Outcome::Success);
    format!("{:?}", model.requests()).contains("was set")
}

#[tokio::test]
async fn deny_and_ask_rules_hold_by_the_name_of_the_configuration_too() {
    let long = "a-server-whose-name-is-longer-than-names-of-tools-allow";
    let known = McpServers::new(McpOptions::new());
    known.add(long, config()).unwrap();
    known.settled(std::time::Duration::from_secs(5)).await;
    let long_tool = known.tools()[0].spec().name;
    for (server, tool, rule) in [
        ("my server", "mcp__my_server__set", "mcp__my server".to_owned()),
        ("my server", "mcp__my_server__set", "mcp__my server__set".to_owned()),
        ("my server", "mcp__my_server__set", "mcp__my server__*".to_owned()),
        ("my server", "mcp__my_server__set", "mcp__my_server".to_owned()),
        ("a.b", "mcp__a_b__set", "mcp__a.b".to_owned()),
        ("plugin:a:b", "mcp__plugin_a_b__set", "mcp__plugin:a:b__set".to_owned()),
        ("_c", "mcp__c__set", "mcp___c__set".to_owned()),
        (long, &long_tool, format!("mcp__{long}")),
        (long, &long_tool, format!("mcp__{long}__set")),
    ] {
        assert!(runs(server, tool, Permissions::new()).await, "{tool} runs without a rule");
        assert!(!runs(server, tool, Permissions::new().deny([rule.as_str()])).await, "deny {rule}");
        assert!(!runs(server, tool, Permissions::new().ask_about([rule.as_str()])).await, "ask {rule}");
    }
    assert!(runs("my server", "mcp__my_server__set", Permissions::new().deny(["mcp__my", "mcp__server"])).await);
}

#[tokio::test]
async fn names_by_which_a_rule_could_mean_another_server_are_refused() {
    let servers = servers("a.b");
    for name in ["a__b", "a_", "__", "", "!"] {
        assert!(matches!(servers.add(name, config()), Err(McpError::InvalidName { .. })), "{name:?}");
    }
    let error = servers.add("a_b", config()).unwrap_err();
    assert!(matches!(&error, McpError::NameTaken { other, .. } if other == "a.b"), "{error:?}");
    assert!(error.to_string().contains("like those of \"a.b\""), "{error}");
    assert!(servers.remove("a.b").await);
    servers.add("a_b", config()).unwrap();
}
