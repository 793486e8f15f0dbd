//! The guide's page on mistakes: each is made here, and the page shows the code and what is said of it.
//! `WINDLASS_RENEW=1` writes the page anew.

use serde_json::json;
use std::fmt::Display;
use windlass::event::Status;
use windlass::hook::PreToolUseAction;
use windlass::options::{LimitOptions, ModelOptions, NameChecks, StorageOptions, ToolSetOptions, WorkspaceOptions};
use windlass::permission::QuestionEvents;
use windlass::session::Resume;
use windlass::session::{ForkOptions, Prompt};
use windlass::testing::ScriptedTurn;
use windlass::{
    AgentDefinition, Anthropic, Error, EventKind, Home, PermissionAnswer, PermissionMode, Permissions, Query,
    ScriptedModel, Session, Subagents, coding_tools, hook_fn, query, schemars, session, tool_fn,
};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/mistakes.md");
const ID: &str = "00000000-0000-4000-8000-000000000007";

/// A mistake, as the page shows it: in words, as code, and what is said of it.
struct Mistake {
    what: &'static str,
    code: &'static str,
    said: String,
}

/// Error text of failing code.
macro_rules! fails {
    ($what:literal: $($code:tt)*) => {
        Mistake { what: $what, code: stringify!($($code)*), said: error({ $($code)* }) }
    };
}

/// Notices when the session of a query opens.
macro_rules! notices {
    ($what:literal: $($code:tt)*) => {
        Mistake { what: $what, code: stringify!($($code)*), said: notices({ $($code)* }).await }
    };
}

fn error<T, E: Display>(result: Result<T, E>) -> String {
    match result {
        Ok(_) => panic!("a mistake is silent"),
        Err(error) => error.to_string(),
    }
}

async fn notices(query: Query) -> String {
    let mut run = query.stream();
    run.handle().await.unwrap();
    let [notice] = run.notices() else { panic!("{:?}", run.notices()) };
    notice.clone()
}

/// Values that the rows of the page use.
struct World {
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn home(&self) -> Home {
        Home::new(self.home.path())
    }

    /// A text without what differs from run to run.
    fn tidy(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in [(self.folder.path(), "/work"), (self.home.path(), "/home/me/.windlass")] {
            let whole = path.canonicalize().unwrap();
            text = text.replace(&*whole.to_string_lossy(), name).replace(&*path.to_string_lossy(), name);
        }
        text.replace(&format!("({})", std::process::id()), "(4711)")
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("done"))
}

fn anthropic() -> Anthropic {
    Anthropic::builder().api_key("sk-test").build().unwrap()
}

type City = std::collections::BTreeMap<String, String>;

fn weather() -> impl windlass::tool::DynTool {
    tool_fn("weather", "Current weather.", |_: City, _| async { Ok("sunny") })
}

/// An answer whose number the schema of the model's output does not know.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Review {
    #[serde(deserialize_with = "even")]
    #[expect(dead_code, reason = "it is read from the model's output alone")]
    score: u32,
}

fn even<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let score: u32 = serde::Deserialize::deserialize(from)?;
    if score.is_multiple_of(2) { Ok(score) } else { Err(serde::de::Error::custom("the score is odd")) }
}

fn reviews() -> ScriptedModel {
    ScriptedModel::from_fn(|_, _| ScriptedTurn::new().tool_use("StructuredOutput", json!({ "score": 3 })))
}

async fn what_is_missing() -> Vec<Mistake> {
    vec![
        fails!("No provider": query("Hello").await),
        fails!("No key in the environment": Anthropic::from_lookup(|_| None)),
        fails!("An empty prompt": query(" ").provider(model()).await),
        fails!("No place for sessions": Home::from_lookup(|_| None)),
        fails!("A relative place for sessions":
            Home::from_lookup(|name| (name == "WINDLASS_HOME").then(|| "sessions".to_owned()))),
    ]
}

/// Programs that have no runtime, or not the whole of one.
fn without_a_runtime() -> Vec<Mistake> {
    use futures_util::FutureExt;
    let bare = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let opening = || session().provider(model()).open();
    vec![
        Mistake {
            what: "Outside of a tokio runtime",
            code: "futures::executor::block_on(session().provider(model()).open())",
            said: error(opening().now_or_never().unwrap()),
        },
        Mistake {
            what: "In a runtime without timers",
            code: "Builder::new_current_thread().build()?.block_on(session().provider(model()).open())",
            said: error(bare.block_on(opening())),
        },
    ]
}

async fn models_and_money() -> Vec<Mistake> {
    vec![
        fails!("An empty model": query("Hello").provider(model()).model("").await),
        fails!("An empty fallback model": query("Hello").provider(model()).model(ModelOptions::new().fallback(" ")).await),
        notices!("A misspelt model": query("Hello").provider(anthropic()).model("sonet")),
        fails!("A budget that is no number": query("Hello").provider(model()).max_budget_usd(f64::NAN).await),
        fails!("A negative budget": query("Hello").provider(model()).max_budget_usd(-1.0).await),
        fails!("A budget for a model without a price": query("Hello").provider(model()).max_budget_usd(1.0).await),
        fails!("A run that fails, and `?`": async {
            query("Hello").provider(anthropic()).max_budget_usd(0.0).await?.success().map_err(Error::from)
        }.await),
    ]
}

async fn permissions(world: &World) -> Vec<Mistake> {
    let asked = || query("Hello").provider(model()).tools(coding_tools(world.folder.path()));
    vec![
        fails!("A rule without its parenthesis": asked().permissions(Permissions::new().deny(["Bash("])).await),
        notices!("The same in an allow rule": asked().permissions(Permissions::new().allow(["Bash("]))),
        fails!("A deny rule that can never match": asked().permissions(Permissions::new().deny(["read"])).await),
        notices!("An allow rule that can never match": asked().permissions(Permissions::new().allow(["read"]))),
        fails!("A rule with a misspelt name": asked().permissions(Permissions::new().deny(["Raed"])).await),
        fails!("A misspelt name with a specifier": asked().permissions(Permissions::new().deny(["Bsh(rm *)"])).await),
        notices!("A rule with a name that is near no other": asked().permissions(Permissions::new().deny(["deploy"]))),
        fails!("The same where names are strict":
            asked().names(NameChecks::Strict).permissions(Permissions::new().deny(["deploy"])).await),
        notices!("A rule about a server that is not there":
            asked().permissions(Permissions::new().deny(["mcp__nosuch"]))),
        fails!("Skipping permissions by accident": asked().permission_mode(PermissionMode::BypassPermissions).await),
    ]
}

async fn tools_hooks_and_agents(world: &World) -> Vec<Mistake> {
    let asked = || query("Hello").provider(model()).tools(coding_tools(world.folder.path()));
    let deny = |_| async { Ok(PreToolUseAction::deny("closed")) };
    vec![
        fails!("Two tools of one name": query("Hello").provider(model()).tools(weather()).tools(weather()).await),
        fails!("A tool with an impossible name":
            query("Hello").provider(model()).tools(tool_fn("my tool", "…", |_: City, _| async { Ok("") })).await),
        fails!("A tool whose input is no object":
            query("Hello").provider(model()).tools(tool_fn("greet", "…", |_: String, _| async { Ok("") })).await),
        fails!("A misspelt tool in a list": asked().tools(ToolSetOptions::new().only(["read", "Grep"])).await),
        fails!("A hook for tools that cannot be": asked().hook(hook_fn("gate").before_tool(["^Bash$"], deny)).await),
        fails!("A hook for a misspelt tool": asked().hook(hook_fn("gate").before_tool(["bash"], deny)).await),
        fails!("A misspelt tool of an agent": asked().subagents(Subagents::new().with(
            AgentDefinition::new("reviewer", "Reviews.", "You review.").with_tools(["grep"]),
        )).await),
        fails!("A schema that is no object": query("Hello").provider(model()).output::<String>().await),
        fails!("An output that does not fit its type": query("Review it").provider(reviews()).output::<Review>().await),
    ]
}

async fn places(world: &World) -> Vec<Mistake> {
    let folder = world.folder.path();
    let asked = || query("Hello").provider(model()).cwd(folder);
    vec![
        fails!("A directory that is not there": query("Hello").provider(model()).cwd(folder.join("gone")).await),
        fails!("Another directory that is not there": asked().workspace(WorkspaceOptions::new().add_dir(folder.join("gone"))).await),
        fails!("Checkpoints of files without a place": asked().storage(StorageOptions::new().file_checkpoints(true)).await),
    ]
}

async fn sessions(world: &World) -> Vec<Mistake> {
    let (folder, home) = (world.folder.path(), world.home());
    let asked = || query("Hello").provider(model()).cwd(folder);
    let empty = Home::new(folder.join("empty"));
    let mut mistakes = vec![
        fails!("To resume from nowhere": asked().resume(ID).await),
        fails!("To resume what is no id": asked().persist(home.clone()).resume("yesterday").await),
        fails!("To resume an unknown session": asked().persist(home.clone()).resume(ID).await),
        fails!("To continue where no session is": asked().persist(empty).resume(Resume::latest().fork()).await),
        fails!("Another id for a session that is resumed":
            asked().persist(home.clone()).resume(ID).session_id("00000000-0000-4000-8000-000000000008").await),
    ];
    let first = asked().persist(home.clone()).session_id(ID).await.unwrap();
    assert!(first.outcome.is_success());
    let other = folder.join("other");
    std::fs::create_dir(&other).unwrap();
    mistakes.push(fails!("To resume from another directory":
        query("Hello").provider(model()).cwd(other).persist(home.clone()).resume(ID).await));
    let open = session().provider(model()).cwd(folder).persist(home.clone()).resume(ID).open().await.unwrap();
    mistakes.push(fails!("To open a session twice": asked().persist(home.clone()).resume(ID).await));
    open.handle.close().await.unwrap();
    mistakes.extend([
        fails!("A title without a letter": home.rename_session(ID, " ").await),
        fails!("An agent that the session does not have": home.agent_transcript(ID, &"reviewer".into()).await),
        fails!("A copy from a message that is not there":
            home.fork_session(ID, ForkOptions::new().at("00000000-0000-4000-8000-000000000009")).await),
    ]);
    mistakes
}

/// A session whose model asks to deploy, up to its question.
async fn asking() -> (Session, windlass::PermissionRequest) {
    let model = ScriptedModel::from_fn(|_, at| match at {
        0 => ScriptedTurn::new().tool_use("weather", json!({})),
        _ => ScriptedTurn::new().text("done"),
    });
    let opened =
        session().provider(model).tools(weather()).permissions(Permissions::new().host(QuestionEvents)).open().await;
    let mut session = opened.unwrap();
    session.handle.prompt("Hello").unwrap();
    loop {
        let event = session.events.try_next().await.unwrap().expect("the model asks");
        if let EventKind::PermissionRequested(request) = event.kind {
            return (session, request);
        }
    }
}

async fn an_open_session() -> Vec<Mistake> {
    let (mut session, request) = asking().await;
    let handle = session.handle.clone();
    handle.answer(&request.id, PermissionAnswer::allow()).unwrap();
    let twice = fails!("To answer twice": handle.answer(&request.id, PermissionAnswer::allow()));
    let mut mistakes = vec![
        Mistake { said: twice.said.replace(request.id.as_str(), ID), ..twice },
        fails!("To watch from a number that is not there yet": handle.subscribe_from(500)),
        fails!("An empty model for the next call": handle.set_model("")),
        fails!("To rewind files that are not kept": handle.rewind_files(&"00000000-0000-4000-8000-000000000009".into()).await),
    ];
    while !matches!(session.events.try_next().await.unwrap().unwrap().kind, EventKind::RunFinished(_)) {}
    handle.close().await.unwrap();
    let code = "handle.set_model(\"sonet\")?";
    mistakes.push(Mistake { what: "A misspelt model for the next call", code, said: misspelt().await });
    mistakes.push(fails!("An order to a session that is closed": handle.prompt(Prompt::text("And now?"))));
    mistakes
}

/// The notice of a session that was given a misspelt model.
async fn misspelt() -> String {
    let anthropic = Anthropic::builder().api_key("sk-test").base_url("http://127.0.0.1:1").build().unwrap();
    let mut session = session().provider(anthropic).limits(LimitOptions::new().max_retries(0)).open().await.unwrap();
    session.handle.set_model("sonet").unwrap();
    session.handle.prompt(Prompt::text("And now?")).unwrap();
    loop {
        let event = session.events.try_next().await.unwrap().expect("a notice");
        match event.kind {
            EventKind::Status(Status::Notice { message }) => return message,
            EventKind::RunFinished(result) => panic!("{result:?}"),
            _ => {}
        }
    }
}

/// A server that cannot start keeps no session closed: the others are there.
#[cfg(feature = "mcp")]
async fn servers() -> Vec<Mistake> {
    use windlass::mcp::{McpOptions, McpServerConfig, McpServers};
    let servers = McpServers::new(McpOptions::default());
    servers.add("files", McpServerConfig::stdio("no-such-program")).unwrap();
    let twice = fails!("Two servers of one name": servers.add("files", McpServerConfig::stdio("another")));
    let mut run = query("Hello").provider(model()).mcp_servers(servers.clone()).stream();
    run.handle().await.unwrap();
    let [missing] = &servers.missing()[..] else { panic!("{:?}", servers.status()) };
    let code = r#"McpServerConfig::stdio("no-such-program")"#;
    vec![twice, Mistake { what: "A server that cannot start", code, said: missing.reason.clone() }]
}

fn section(title: &str, mistakes: &[Mistake], world: &World) -> String {
    let mut text = format!("## {title}\n\n| mistake | code | what is said |\n|---|---|---|\n");
    for Mistake { what, code, said } in mistakes {
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        assert!(said.len() > 15, "{what}: {said}");
        text += &format!("| {what} | `{}` | {} |\n", cell(&code), cell(&world.tidy(said)));
    }
    text
}

async fn sections(world: &World) -> Vec<(&'static str, Vec<Mistake>)> {
    vec![
        ("What is missing", what_is_missing().await),
        ("Models and money", models_and_money().await),
        ("Permissions", permissions(world).await),
        ("Tools, hooks and agents", tools_hooks_and_agents(world).await),
        ("Places", places(world).await),
        ("Stored sessions", sessions(world).await),
        ("A session that is open", an_open_session().await),
        #[cfg(feature = "mcp")]
        ("MCP servers", servers().await),
    ]
}

#[test]
fn each_mistake_says_what_the_page_says() {
    let (world, bare) = (World::new(), without_a_runtime());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut sections = runtime.block_on(sections(&world));
    sections[0].1.extend(bare);
    assert!(sections.iter().map(|(_, mistakes)| mistakes.len()).sum::<usize>() >= 30);
    let page = std::fs::read_to_string(PAGE).unwrap();
    let mut parts: Vec<String> = page.split("\n## ").map(str::to_owned).collect();
    for (title, mistakes) in &sections {
        let text = section(title, mistakes, &world);
        let text = text.trim_start_matches("## ").to_owned();
        let found = parts.iter_mut().find(|part| part.lines().next() == Some(title));
        let part = found.unwrap_or_else(|| panic!("the page has no section {title:?}"));
        if std::env::var_os("WINDLASS_RENEW").is_some() {
            *part = text;
        } else {
            assert_eq!(part.trim_end(), text.trim_end(), "renew the page with WINDLASS_RENEW=1");
        }
    }
    let renewed = parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n## ") + "\n";
    if renewed != page {
        std::fs::write(PAGE, renewed).unwrap();
    }
}
