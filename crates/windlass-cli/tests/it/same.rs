//! One project, three ways: `-p`, a host, and a library session with `.project(..)` ask the model for the same and let it
//! do the same, whatever settings files, trust and flags say.

use crate::place::{Place, Ran, write};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use windlass::options::{ContextOptions, ModelOptions, WorkspaceOptions};
use windlass::project::SettingSources;
use windlass::web::fetch::{FetchOptions, WebFetch};
use windlass::web::search::{ModelSearch, WebSearch};
use windlass::{Home, PermissionMode, Permissions, Project, SessionBuilder, coding_tools, session, tool::Toolkit};
use windlass_testkit::wire::{Message, RecordedRequest, Reply, WireServer};

/// An MCP server that is a program.
const SERVER: &str = r#"
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case $line in
    *'"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*)
      answer '{"tools":[{"name":"go","description":"A tool.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) answer '{"content":[{"type":"text","text":"gone"}]}' ;;
  esac
done
"#;

/// Settings of a project and a command line.
#[derive(Debug, Clone)]
struct Case {
    /// The settings of user, project and local files.
    files: [Option<Value>; 3],
    trust: Trust,
    has_server: bool,
    variables: Vec<(&'static str, &'static str)>,
    flags: Vec<Flag>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    None,
    ForThisRun,
    Recorded,
}

/// A flag, and its counterpart in a program.
#[derive(Debug, Clone, PartialEq)]
enum Flag {
    Model(&'static str),
    Mode(&'static str),
    Skip,
    MayBypass,
    Allow(&'static str),
    Deny(&'static str),
    Tools(&'static str),
    AddDir,
    Settings(Value),
    Sources(&'static str),
    MaxTurns(u32),
    Append(&'static str),
    System(&'static str),
    Agent(&'static str),
    Effort(&'static str),
    StrictMcp,
}

const RULES: [&str; 8] = [
    "Bash(touch *)",
    "Bash",
    "Write",
    "Edit(/new.txt)",
    "Read(plain.env)",
    "Read(//etc/hostname)",
    "mcp__files",
    "Agent",
];
const MODES: [&str; 6] = ["default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"];

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(RULES.to_vec(), 0..=2)
}

/// One member of a settings file.
fn member() -> impl Strategy<Value = (String, Value)> {
    let value = prop_oneof![
        3 => (select(vec!["allow", "deny", "ask"]), rules()).prop_map(|(key, rules)| (format!("permissions.{key}"), json!(rules))),
        2 => select(MODES.to_vec()).prop_map(|mode| ("permissions.defaultMode".to_owned(), json!(mode))),
        1 => Just(("permissions.disableBypassPermissionsMode".to_owned(), json!("disable"))),
        1 => Just(("permissions.additionalDirectories".to_owned(), json!(["../extra", "missing"]))),
        2 => select(vec!["user", "shared", "own"]).prop_map(|word| ("env.WORD".to_owned(), json!(word))),
        1 => select(vec!["0", "1500", "x"]).prop_map(|tokens| ("env.MAX_THINKING_TOKENS".to_owned(), json!(tokens))),
        1 => Just(("env.CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".to_owned(), json!("1"))),
        2 => select(vec!["haiku", "opus"]).prop_map(|model| ("model".to_owned(), json!(model))),
        1 => select(vec!["helper", "ours", "none"]).prop_map(|agent| ("agent".to_owned(), json!(agent))),
        1 => Just(("enableAllProjectMcpServers".to_owned(), json!(true))),
        1 => Just(("enabledMcpjsonServers".to_owned(), json!(["files"]))),
        1 => Just(("disabledMcpjsonServers".to_owned(), json!(["files"]))),
        1 => Just(("deniedMcpServers".to_owned(), json!([{"serverName": "files"}]))),
        1 => Just(("allowedMcpServers".to_owned(), json!([{"serverCommand": ["bash", "other"]}]))),
    ];
    value.boxed()
}

fn settings() -> impl Strategy<Value = Value> {
    vec(member(), 0..5).prop_map(|members| {
        let mut all = Map::new();
        for (key, value) in members {
            match key.split_once('.') {
                Some((outer, inner)) => all.entry(outer).or_insert_with(|| json!({}))[inner] = value,
                None => drop(all.insert(key, value)),
            }
        }
        Value::Object(all)
    })
}

fn flag() -> impl Strategy<Value = Flag> {
    prop_oneof![
        select(vec!["haiku", "sonnet"]).prop_map(Flag::Model),
        select(MODES.to_vec()).prop_map(Flag::Mode),
        Just(Flag::Skip),
        Just(Flag::MayBypass),
        select(RULES.to_vec()).prop_map(Flag::Allow),
        select(RULES.to_vec()).prop_map(Flag::Deny),
        select(vec!["default", "Read,Bash,Agent", "Read"]).prop_map(Flag::Tools),
        Just(Flag::AddDir),
        settings().prop_map(Flag::Settings),
        select(vec!["user", "project", "user,local", ""]).prop_map(Flag::Sources),
        (1..3_u32).prop_map(Flag::MaxTurns),
        Just(Flag::Append("Be brief.")),
        Just(Flag::System("Be a pirate.")),
        select(vec!["helper", "ours"]).prop_map(Flag::Agent),
        select(vec!["low", "max"]).prop_map(Flag::Effort),
        Just(Flag::StrictMcp),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let trust = select(vec![Trust::None, Trust::ForThisRun, Trust::Recorded]);
    let files = [option::of(settings()), option::of(settings()), option::of(settings())];
    let variables = btree_map(
        select(vec!["ANTHROPIC_MODEL", "MAX_THINKING_TOKENS", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "WORD"]),
        select(vec!["1", "2048"]),
        0..3,
    );
    (files, trust, any::<bool>(), variables, vec(flag(), 0..4)).prop_map(
        |(files, trust, has_server, variables, flags)| {
            // A flag that is given twice means different things to different parsers.
            let mut kept: Vec<Flag> = Vec::new();
            for flag in flags {
                let is_new = |known: &Flag| std::mem::discriminant(known) != std::mem::discriminant(&flag);
                if kept.iter().all(is_new) {
                    kept.push(flag);
                }
            }
            Case { files, trust, has_server, variables: variables.into_iter().collect(), flags: kept }
        },
    )
}

/// Result of a way: the requests to the model, or the reason why there are none.
#[derive(Debug, Clone, PartialEq)]
enum Came {
    Requests(Vec<Value>),
    Refused(String),
}

impl Case {
    fn lay_out(&self) -> Place {
        let place = Place::new();
        for (name, text) in [("work/plain.env", "KEY=1\n"), ("extra/x.txt", "extra\n"), ("server.sh", SERVER)] {
            write(&place.path(name), text);
        }
        let paths = ["home/.windlass/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json"];
        for (path, settings) in paths.iter().zip(&self.files) {
            if let Some(settings) = settings {
                write(&place.path(path), &settings.to_string());
            }
        }
        let agent =
            |name: &str, more: &str| format!("---\nname: {name}\ndescription: Helps.\n{more}---\nYou are {name}.\n");
        let of_user = agent("helper", "tools: Read, Bash, Write\nmodel: haiku\nmaxTurns: 2\n");
        write(&place.path("home/.windlass/agents/helper.md"), &of_user);
        let of_project =
            agent("ours", "permissionMode: bypassPermissions\ndisallowedTools: Write\ninitialPrompt: /hi you\n");
        write(&place.path("work/.claude/agents/ours.md"), &of_project);
        write(&place.path("work/.claude/commands/hi.md"), "Hi $1.");
        if self.has_server {
            let server = json!({"mcpServers": {"files": {"command": "bash", "args": [place.path("server.sh")]}}});
            write(&place.path("work/.mcp.json"), &server.to_string());
        }
        place
    }

    /// Restores the initial state before each way.
    fn reset(&self, place: &Place) {
        for made in ["work/new.txt", "work/made", "home/.windlass/windlass-trust.json"] {
            // The file may not be there.
            let _ = std::fs::remove_file(place.path(made));
        }
        if self.trust == Trust::Recorded {
            let cwd = place.work().canonicalize().unwrap();
            let record = json!({"projects": {cwd.to_str().unwrap(): {"trusted": true}}});
            write(&place.path("home/.windlass/windlass-trust.json"), &record.to_string());
        }
    }

    fn environment(&self, place: &Place, server: &WireServer) -> Vec<(String, String)> {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut all = vec![
            variable("PATH", &std::env::var("PATH").unwrap()),
            variable("HOME", place.home().to_str().unwrap()),
            variable("ANTHROPIC_API_KEY", "sk-test"),
            variable("ANTHROPIC_BASE_URL", &server.url()),
        ];
        all.extend(self.variables.iter().map(|(name, value)| variable(name, value)));
        all
    }

    fn args(&self) -> Vec<String> {
        let mut args: Vec<String> = Vec::new();
        let mut add = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
        if self.trust == Trust::ForThisRun {
            add(&["--trust"]);
        }
        for flag in &self.flags {
            match flag {
                Flag::Model(model) => add(&["--model", model]),
                Flag::Mode(mode) => add(&["--permission-mode", mode]),
                Flag::Skip => add(&["--dangerously-skip-permissions"]),
                Flag::MayBypass => add(&["--allow-dangerously-skip-permissions"]),
                Flag::Allow(rule) => add(&["--allowedTools", rule]),
                Flag::Deny(rule) => add(&["--disallowedTools", rule]),
                Flag::Tools(names) => add(&["--tools", names]),
                Flag::AddDir => add(&["--add-dir", "../extra"]),
                Flag::Settings(settings) => add(&["--settings", &settings.to_string()]),
                Flag::Sources(names) => add(&["--setting-sources", names]),
                Flag::MaxTurns(turns) => add(&["--max-turns", &turns.to_string()]),
                Flag::Append(text) => add(&["--append-system-prompt", text]),
                Flag::System(text) => add(&["--system-prompt", text]),
                Flag::Agent(name) => add(&["--agent", name]),
                Flag::Effort(effort) => add(&["--effort", effort]),
                Flag::StrictMcp => add(&["--strict-mcp-config"]),
            }
        }
        args
    }

    fn command(&self, place: &Place, server: &WireServer, host: bool) -> Ran {
        let front: &[&str] = match host {
            false => &["-p", "Go."],
            true => &["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"],
        };
        let args: Vec<String> = front.iter().map(|word| (*word).to_owned()).chain(self.args()).collect();
        let mut command = place.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
        command.envs(self.environment(place, server)).stdin(std::process::Stdio::piped());
        let prompt = json!({"type": "user", "message": {"role": "user", "content": "Go."}});
        let stdin = if host { format!("{prompt}\n") } else { String::new() };
        crate::place::finish(command.spawn().unwrap(), &stdin)
    }

    /// The session as a program would write it down.
    fn session(&self, place: &Place, server: &WireServer) -> Result<SessionBuilder, windlass::Error> {
        let mut project = Project::at(place.work()).memory(true).environment(self.environment(place, server));
        project = project.trust(self.trust == Trust::ForThisRun);
        let (mut permissions, mut builder) = (Permissions::new(), session());
        let mut tools = coding_tools(place.work()).with(WebFetch::new(FetchOptions::default()));
        tools = tools.with(WebSearch::by_model(ModelSearch::default()));
        for flag in &self.flags {
            match flag {
                Flag::Model(model) => builder = builder.model(*model),
                Flag::Mode(mode) => {
                    let mode: PermissionMode = mode.parse().unwrap();
                    permissions = if mode == PermissionMode::BypassPermissions {
                        permissions.allow_bypass()
                    } else {
                        permissions
                    };
                    // Skipping counts for more.
                    permissions = if self.flags.contains(&Flag::Skip) { permissions } else { permissions.mode(mode) };
                }
                Flag::Skip => permissions = permissions.allow_bypass().mode(PermissionMode::BypassPermissions),
                Flag::MayBypass => permissions = permissions.allow_bypass(),
                Flag::Allow(rule) => permissions = permissions.allow([*rule]),
                Flag::Deny(rule) => permissions = permissions.deny([*rule]),
                Flag::Tools("default") => {}
                Flag::Tools(names) => {
                    let names: Vec<&str> = names.split(',').collect();
                    tools = Toolkit::only(tools, &names);
                    project = project
                        .subagents(names.contains(&"Agent"))
                        .memory(names.contains(&"Memory"))
                        .index_tool(names.contains(&"ProjectSearch"));
                }
                Flag::AddDir => builder = builder.workspace(WorkspaceOptions::new().add_dir("../extra")),
                Flag::Settings(settings) => project = project.settings(settings.to_string()),
                Flag::Sources(names) => project = project.sources(names.parse::<SettingSources>().unwrap()),
                Flag::MaxTurns(turns) => builder = builder.max_turns(*turns),
                Flag::Append(text) => builder = builder.context(ContextOptions::new().append_system_prompt(*text)),
                Flag::System(text) => {
                    builder = builder.system_prompt(windlass::SystemPrompt::Custom((*text).to_owned()))
                }
                Flag::Agent(name) => project = project.agent(*name),
                Flag::Effort(effort) => builder = builder.model(ModelOptions::new().effort(effort.parse().unwrap())),
                Flag::StrictMcp => project = project.file_servers(false),
            }
        }
        let home = Home::new(place.path("home/.windlass"));
        builder.tools(tools).permissions(permissions).persist(home).project(project).resolve()
    }

    fn library(&self, place: &Place, server: &WireServer) -> Result<(), windlass::Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ran = runtime.block_on(async { self.session(place, server)?.query("Go.").await });
        runtime.shutdown_background();
        ran.map(drop)
    }

    fn came(&self, server: &WireServer, refusal: Option<String>) -> Came {
        let requests =
            questions_in_order(server.requests().iter().filter(|request| request.method != "GET").map(seen).collect());
        match refusal {
            Some(text) if requests.is_empty() => Came::Refused(text),
            _ => Came::Requests(requests),
        }
    }
}

/// Returns the parts of a request that must be the same: all but the requester, the way of waiting for agents, which
/// differs for hosts, an agent's first words as a text of their own or not, and the random marks around the
/// classifier's question.
fn seen(request: &RecordedRequest) -> Value {
    let mut body = request.json().unwrap();
    let fields = body.as_object_mut().unwrap();
    fields.remove("metadata");
    if let Some(Value::Array(tools)) = fields.get_mut("tools") {
        for tool in tools.iter_mut().filter(|tool| tool["name"] == "Agent") {
            let lines = tool["description"].as_str().unwrap_or_default().lines();
            let lines: Vec<&str> = lines.filter(|line| !line.contains("run_in_background")).collect();
            tool["description"] = json!(lines);
            tool["input_schema"]["properties"]["run_in_background"] = json!(null);
        }
    }
    if let Some(Value::Array(messages)) = body.get_mut("messages") {
        for message in messages {
            message["content"] = without_marks(&joined(&message["content"]));
        }
    }
    body["beta"] = json!(request.header("anthropic-beta"));
    body
}

/// Texts that follow each other as one.
fn joined(content: &Value) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    for block in content.as_array().into_iter().flatten() {
        let text = block["text"].as_str();
        match (text, blocks.last_mut().filter(|last| last["type"] == "text")) {
            (Some(text), Some(last)) => last["text"] = json!(format!("{}\n\n{text}", last["text"].as_str().unwrap())),
            (Some(text), None) => blocks.push(json!({"type": "text", "text": text})),
            (None, _) => blocks.push(block.clone()),
        }
    }
    if content.is_array() { json!(blocks) } else { content.clone() }
}

/// Questions to the classifier and results of others with the same marks each time.
fn without_marks(content: &Value) -> Value {
    let mut text = content.to_string();
    for (before, behind, length) in [("between the marks ", ".", 32), ("Between the two lines with ", " ", 16)] {
        let words = text.clone();
        for mark in words.split(before).skip(1).filter_map(|rest| rest.split(behind).next()) {
            if mark.len() == length {
                text = text.replace(mark, "MARK");
            }
        }
    }
    serde_json::from_str(&text).unwrap()
}

/// The questions to the classifier about calls of one answer are asked at once: in the order of their texts.
fn questions_in_order(mut requests: Vec<Value>) -> Vec<Value> {
    let is_question = |request: &Value| request["messages"].to_string().contains("between the marks MARK");
    for asked in requests.chunk_by_mut(|one, other| is_question(one) && is_question(other)) {
        asked.sort_by_cached_key(|request| request["messages"].to_string());
    }
    requests
}

/// The model makes calls that settings may allow or forbid, and then ends.
fn model() -> WireServer {
    let server = WireServer::start_on_thread().unwrap();
    server.on_request(|request| {
        if request.method == "GET" {
            // No list has the model of the settings, so the server is asked for its window.
            return Reply::error(404, "not_found_error", "no models here");
        }
        let body = request.json().unwrap();
        let is_answered = body["messages"].as_array().unwrap().iter().any(|message| message["role"] == "assistant");
        if is_answered {
            return Reply::message(Message::new().text("Done."));
        }
        let calls = [
            ("Read", json!({"file_path": "plain.env"})),
            ("Read", json!({"file_path": "../extra/x.txt"})),
            ("Bash", json!({"command": "printenv WORD"})),
            ("Bash", json!({"command": "touch made"})),
            ("Write", json!({"file_path": "new.txt", "content": "x"})),
            ("mcp__files__go", json!({})),
        ];
        let calls = calls.into_iter().enumerate();
        Reply::message(
            calls.fold(Message::new(), |message, (at, (tool, input))| {
                message.tool_use(&format!("toolu_{at}"), tool, input)
            }),
        )
    });
    server
}

fn in_all_ways(case: &Case) -> [Came; 3] {
    let place = case.lay_out();
    let command = |host: bool| {
        case.reset(&place);
        let server = model();
        let ran = case.command(&place, &server, host);
        let output = format!("{}{}", ran.stdout, ran.stderr);
        case.came(&server, (ran.code != 0).then_some(output))
    };
    let library = || {
        case.reset(&place);
        let server = model();
        let refusal = case.library(&place, &server).err().map(|error| match error {
            windlass::Error::Project(problem) => problem.to_string(),
            // The command has words of its own for others.
            _ => String::new(),
        });
        case.came(&server, refusal)
    };
    [library(), command(false), command(true)]
}

/// Returns the first difference between two ways.
fn difference(one: &Came, other: &Came) -> String {
    let (Came::Requests(one), Came::Requests(other)) = (one, other) else { return format!("{one:?} is not {other:?}") };
    let text = |requests: &[Value]| serde_json::to_string_pretty(requests).unwrap();
    let (one, other) = (text(one), text(other));
    let lines = one.lines().zip(other.lines());
    match lines.enumerate().find(|(_, (one, other))| one != other) {
        Some((at, (one, other))) => format!("line {at}: {one} is not {other}"),
        None => format!("{} lines are not {}", one.lines().count(), other.lines().count()),
    }
}

fn check(case: &Case) {
    let [library, print, host] = in_all_ways(case);
    match &library {
        Came::Requests(_) => {
            for (way, came) in [("-p", print), ("host", host)] {
                assert!(came == library, "{way}: {} in {case:#?}", difference(&came, &library));
            }
        }
        // Each way has its own wording.
        Came::Refused(why) => {
            let line = why.lines().next().unwrap_or_default();
            for way in [print, host] {
                let Came::Refused(output) = &way else { panic!("{way:?} {why} {case:#?}") };
                assert!(output.replace("\\\"", "\"").contains(line), "{output} {why} {case:#?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(12), failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn command_host_and_library_do_the_same(case in case()) {
        check(&case);
    }
}

/// Returns `true` if the call with this index was carried out, by the last request.
fn ran(came: &Came, call: usize) -> bool {
    let Came::Requests(requests) = came else { panic!("{came:?}") };
    let id = format!("toolu_{call}");
    let messages = requests.last().unwrap()["messages"].as_array().unwrap().clone();
    let results = messages.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let result = results.into_iter().find(|block| block["tool_use_id"] == id.as_str()).unwrap();
    result["is_error"] != json!(true)
}

/// A project in which everything is allowed that settings can allow.
fn wide() -> Case {
    let settings = json!({"permissions": {"allow": ["Bash", "Write", "mcp__files"], "additionalDirectories": ["../extra"]},
        "env": {"WORD": "shared"}, "enabledMcpjsonServers": ["files"]});
    let files = [None, None, Some(settings)];
    Case { files, trust: Trust::ForThisRun, has_server: true, variables: Vec::new(), flags: Vec::new() }
}

#[test]
fn each_restriction_holds_in_all_ways() {
    let deny = |rules: Value| json!({"permissions": {"deny": rules}});
    let with = |file: usize, settings: Value, change: fn(&mut Case)| {
        let mut case = wide();
        case.files[file] = Some(settings);
        change(&mut case);
        case
    };
    let none: fn(&mut Case) = |_| {};
    let skip: fn(&mut Case) = |case| case.flags.push(Flag::Skip);
    let only_skip: fn(&mut Case) = |case| {
        case.files[2] = None;
        case.flags.push(Flag::Skip);
    };
    let untrusted: fn(&mut Case) = |case| case.trust = Trust::None;
    // The calls: plain.env, extra/x.txt, printenv, touch, Write, the server's tool.
    for (case, expected) in [
        (wide(), [true; 6]),
        (with(0, json!({}), untrusted), [true, false, false, false, false, false]),
        (with(0, deny(json!(["Read(plain.env)", "Bash(touch *)"])), none), [false, true, true, false, true, true]),
        (with(1, deny(json!(["Write", "mcp__files"])), skip), [true, true, true, true, false, false]),
        (with(1, deny(json!(["Read(../extra/**)"])), untrusted), [true, false, false, false, false, false]),
        (
            with(1, json!({"permissions": {"disableBypassPermissionsMode": "disable"}}), only_skip),
            [true, false, false, false, false, false],
        ),
        (with(0, json!({"deniedMcpServers": [{"serverName": "files"}]}), skip), [true, true, true, true, true, false]),
        (with(1, json!({"disabledMcpjsonServers": ["files"]}), skip), [true, true, true, true, true, false]),
    ] {
        for (way, came) in ["library", "print", "host"].iter().zip(in_all_ways(&case)) {
            let did: Vec<bool> = (0..6).map(|call| ran(&came, call)).collect();
            assert_eq!(did, expected, "{way}: {case:#?} {came:#?}");
        }
    }
}
