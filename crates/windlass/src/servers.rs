//! MCP servers that files and plugins define.

use windlass_mcp::{McpConfigError, McpServerConfig, McpTransport, parse_config};
use windlass_project::ServerDefinition;

/// How to reach an MCP server that a file or a [plugin](crate::load_plugins) defines. `environment` says what a
/// variable in its configuration stands for; `${CLAUDE_PLUGIN_ROOT}` is the plugin's directory whatever that says.
///
/// ```no_run
/// use windlass::{McpOptions, McpServers, PluginDir, load_plugins, server_config};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let plugins = load_plugins(&std::env::current_dir()?, &[PluginDir::new("plugins/issues")]);
/// for error in &plugins.errors {
///     eprintln!("{error}");
/// }
/// let servers = McpServers::new(McpOptions::new());
/// for server in plugins.servers() {
///     servers.add(&server.name, server_config(server, |name| std::env::var(name).ok())?)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The entry cannot be used, names a variable that is not set, or is a server inside the host.
pub fn server_config(
    server: &ServerDefinition,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<McpServerConfig, McpConfigError> {
    let unusable = |problem: &str| McpConfigError::Server { name: server.name.clone(), problem: problem.to_owned() };
    let read = parse_config(&server.document(), |name| server.variable(name, &environment))?;
    let (_, config) = read.into_iter().next().ok_or_else(|| unusable("it is not there"))?;
    let mut config = config?.source(server.scope.as_str());
    match &mut config.transport {
        McpTransport::InProcess(_) => return Err(unusable("a file cannot bring a server that is inside the host")),
        McpTransport::Stdio { env, .. } => {
            for (name, value) in server.environment() {
                env.entry(name.to_owned()).or_insert(value);
            }
        }
        _ => {}
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;
    use windlass_project::{PluginDir, load_plugins};

    #[test]
    fn servers_of_plugins_are_reached_as_they_say() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("p");
        std::fs::create_dir_all(&root).unwrap();
        let entries = r#"{"a":{"command":"${CLAUDE_PLUGIN_ROOT}/run","args":["${X:-x}"],"env":{"Y":"${Z}"}},
            "b":{"type":"http","url":"https://${Z}/${CLAUDE_PLUGIN_ROOT:-none}","headers":{"H":"${Z}"}},
            "c":{"command":"${MISSING}"},"d":{"type":"sdk"},"e":7}"#;
        std::fs::write(root.join(".mcp.json"), entries).unwrap();
        let plugins = load_plugins(directory.path(), &[PluginDir::new("p")]);
        let lookup = |name: &str| (name == "Z").then(|| "z".to_owned());
        let configs: Vec<_> = plugins.servers().map(|server| server_config(server, lookup)).collect();
        let root = root.to_str().unwrap();
        let stdio = configs.first().unwrap().as_ref().unwrap();
        assert_eq!(stdio.source, "plugin");
        let McpTransport::Stdio { command, args, env } = &stdio.transport else { panic!("{stdio:?}") };
        assert_eq!((command, args.as_slice()), (&format!("{root}/run"), &["x".to_owned()][..]));
        assert_eq!((env.get("Y").unwrap().as_str(), env.get("CLAUDE_PLUGIN_ROOT").unwrap().as_str()), ("z", root));
        let McpTransport::Http { url, headers } = &configs.get(1).unwrap().as_ref().unwrap().transport else {
            panic!()
        };
        assert_eq!((url, headers.get("H").unwrap().as_str()), (&format!("https://z/{root}"), "z"));
        for (at, part) in [(2, "MISSING"), (3, "inside the host"), (4, "plugin:p:e")] {
            let error = configs.get(at).unwrap().as_ref().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
