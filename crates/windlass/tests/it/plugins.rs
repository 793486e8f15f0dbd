//! A plugin in a program, through the facade.

use serde_json::json;
use windlass::{
    ScriptedModel, ScriptedTurn, Subagents, coding_tools,
    project::{PluginDir, load_plugins},
    query,
};

#[tokio::test(start_paused = true)]
async fn a_program_can_use_what_a_plugin_brings() {
    let place = tempfile::tempdir().unwrap();
    let plugin = place.path().join("kit");
    for (file, text) in [
        (".claude-plugin/plugin.json", r#"{"name":"kit"}"#),
        ("commands/fix.md", "Fix issue $1."),
        ("agents/finder.md", "---\ndescription: Finds\ntools: Read\n---\nYou find things."),
        ("hooks/hooks.json", "{}"),
    ] {
        std::fs::create_dir_all(plugin.join(file).parent().unwrap()).unwrap();
        std::fs::write(plugin.join(file), text).unwrap();
    }
    let plugins = load_plugins(place.path(), &[PluginDir::new("kit")]);
    assert!(plugins.errors.is_empty(), "{:?}", plugins.errors);

    let prompt = plugins
        .commands()
        .find(|command| command.name == "kit:fix")
        .unwrap()
        .expand(&windlass_project::CommandUse::with("12"))
        .unwrap();
    assert_eq!(prompt, "Fix issue 12.");
    let agents = Subagents::new().with_all(plugins.agents().agents.into_iter().map(|agent| agent.definition));
    let model = ScriptedModel::from_fn(|request, _| {
        let system: String = request.system.iter().map(|section| section.text.to_string()).collect();
        match (system.contains("You find things."), request.messages.len()) {
            (true, _) => ScriptedTurn::new().text("Found it."),
            (false, 1) => {
                let task = json!({"description": "Find", "prompt": "Find it.", "subagent_type": "kit:finder"});
                ScriptedTurn::new().tool_use("Agent", task)
            }
            (false, _) => ScriptedTurn::new().text("Fixed."),
        }
    });
    let result =
        query(prompt).provider(model.clone()).tools(coding_tools(place.path())).subagents(agents).await.unwrap();
    assert_eq!(result.text, "Fixed.");
    let requests = model.requests();
    let of_finder: Vec<_> = requests.iter().filter(|request| request.tools.len() == 1).collect();
    assert_eq!((of_finder.len(), of_finder[0].tools[0].name.as_str()), (1, "Read"));
}
