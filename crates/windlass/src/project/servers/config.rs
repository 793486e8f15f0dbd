//! MCP servers that files and plugins define.

use windlass_mcp::{McpConfigError, McpServerConfig, McpTransport, expand_variables, parse_config};
use windlass_project::{Layer, Resolved, ServerAddress, ServerDefinition, ServerPolicy};

/// Converts the definition of an MCP server from a file or [plugin](crate::project::load_plugins) to its configuration.
/// `environment` resolves variables in the configuration; `${CLAUDE_PLUGIN_ROOT}` is always the plugin's directory.
///
/// ```no_run
/// use windlass::{mcp::{McpOptions, McpServers, server_config}, project::{PluginDir, load_plugins}};
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
/// The entry is invalid, names an unset variable, or describes an in-process server.
pub fn server_config(
    server: &ServerDefinition,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<McpServerConfig, McpConfigError> {
    let unusable = |problem: &str| McpConfigError::Server { name: server.name.clone(), problem: problem.to_owned() };
    let configs = parse_config(&server.document(), |name| server.variable(name, &environment))?;
    let (_, config) = configs.into_iter().next().ok_or_else(|| unusable("it is not there"))?;
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

/// Policy of MCP servers from settings: `allowedMcpServers`, `deniedMcpServers` and `allowManagedMcpServersOnly`.
/// A variable in an entry takes its value from managed settings, else from `environment`.
///
/// ```
/// use windlass::project::{Layer, Origin, Settings, SettingsFile, resolve};
/// use windlass::mcp::{McpServerConfig, server_policy, server_refusal};
///
/// let json = r#"{"allowedMcpServers":[{"serverUrl":"https://*.example.com/*"}]}"#;
/// let resolved = resolve(&[SettingsFile::new(Layer::Managed, Origin::Inline, "/w", Settings::parse(json)?)])?;
/// let policy = server_policy(&resolved, |name| std::env::var(name).ok());
///
/// assert_eq!(server_refusal(&policy, "a", &McpServerConfig::http("https://mcp.example.com/")), None);
/// assert!(server_refusal(&policy, "b", &McpServerConfig::stdio("mcp-files")).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn server_policy(resolved: &Resolved, environment: impl Fn(&str) -> Option<String>) -> ServerPolicy {
    let lookup = |name: &str| {
        let managed = resolved.env.programs.get(name).filter(|setting| setting.layer == Layer::Managed);
        managed.map(|setting| setting.value.clone()).or_else(|| environment(name))
    };
    let unset = |name| format!("the variable {name} is not set");
    resolved.servers.lists.policy(|text| expand_variables(text, &lookup).map_err(unset))
}

/// Returns the reason why the policy refuses a server, or `None` if it is allowed. In-process servers are always
/// allowed, because the host itself runs them.
#[must_use]
pub fn server_refusal(policy: &ServerPolicy, name: &str, config: &McpServerConfig) -> Option<String> {
    match &config.transport {
        McpTransport::InProcess(_) => None,
        McpTransport::Stdio { command, args, .. } => policy.refusal(name, ServerAddress::Program { command, args }),
        McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => policy.refusal(name, ServerAddress::Url(url)),
        // A transport that was added later has no address in the lists, so it is judged by the empty URL.
        _ => policy.refusal(name, ServerAddress::Url("")),
    }
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

    #[test]
    fn lists_are_about_what_is_connected_to() {
        use windlass_project::{Origin, Settings, SettingsFile, resolve};
        let file = |layer, said| {
            SettingsFile::new(layer, Origin::File(format!("/{layer}").into()), "/w", Settings::parse(said).unwrap())
        };
        let managed = r#"{"env":{"RUN":"managed"},"allowedMcpServers":[
            {"serverCommand":["${RUN}","${HOME}"]},{"serverUrl":"https://${MISSING:-a.example}/*"}]}"#;
        // Another file cannot change the meaning of the list.
        let flags = r#"{"env":{"RUN":"flags","HOME":"/flags"}}"#;
        let resolved = resolve(&[file(Layer::Managed, managed), file(Layer::Flags, flags)]).unwrap();
        let policy = server_policy(&resolved, |name| (name == "HOME").then(|| "/home/a".to_owned()));
        let is_in = |config: McpServerConfig| server_refusal(&policy, "s", &config).is_none();
        assert!(is_in(McpServerConfig::stdio("managed").arg("/home/a").env("X", "x")));
        assert!(!is_in(McpServerConfig::stdio("flags").arg("/flags")));
        assert!(!is_in(McpServerConfig::stdio("managed")));
        assert!(is_in(McpServerConfig::http("https://a.example/x")) && !is_in(McpServerConfig::http("https://b/")));
        let sse = |url: &str| {
            let text = format!(r#"{{"s":{{"type":"sse","url":"{url}"}}}}"#);
            parse_config(&text, |_| None).unwrap().remove(0).1.unwrap()
        };
        assert!(is_in(sse("https://a.example/x")) && !is_in(sse("https://b/")));
        let own = parse_config(r#"{"s":{"type":"sdk"}}"#, |_| None).unwrap().remove(0).1.unwrap();
        assert!(is_in(own));
    }
}
