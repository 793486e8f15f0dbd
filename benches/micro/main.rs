//! The hot paths, each alone.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use windlass::{
    Access, Anthropic, ContentBlock, JsonText, SessionId,
    permission::{Behavior, Policy},
    provider::Message,
    tool::{DynTool, Permit},
};
use windlass_builtin_tools::{Edit, Read};
use windlass_core::{Effect, EffectId, Input, Machine, Output};
use windlass_model::ModelProvider;
use windlass_permission::{CallFacts, CommandFacts, PathFact, PolicyConfig};
use windlass_runtime::{MachineConfig, ModelProfile, Prompt};
use windlass_session::{LogEncoder, LogHeader};
use windlass_testkit::wire::{Message as WireMessage, Reply, WireServer};
use windlass_tool::JudgedPath;
use windlass_types::{
    BlockStart, CallDigest, Entry, EntryKind, ModelEvent, ModelInfo, ModelItem, ModelRequest, RuleSource,
    SharedMessage, StreamDelta, Timestamp, ToolResult, Usage,
};

const DELTAS: usize = 1_000;
const WORDS: &str = "some more words of text ";

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn item(event: ModelEvent) -> ModelItem {
    ModelItem::from(event)
}

/// A machine in the middle of a text block.
fn streaming() -> (Machine, EffectId) {
    let policy = Policy::new(PolicyConfig::new("/work"));
    let model = ModelProfile::new("m", ModelInfo::new(200_000, 32_000));
    let session = SessionId::from_bits(7);
    let mut machine = Machine::new(MachineConfig::new(session, 1, model, policy, "/work".into()), &[]);
    machine.handle(Timestamp::from_millis(1), Input::Prompt(Prompt::text("hello"))).expect("it fits");
    let mut call = None;
    while let Some(output) = machine.poll() {
        if let Output::Effect(id, Effect::CallModel(_)) = output {
            call = Some(id);
        }
    }
    let call = call.expect("a model call");
    for event in [
        ModelEvent::MessageStart { id: "msg".into(), model: "m".into(), usage: Usage::default() },
        ModelEvent::BlockStart { index: 0, block: BlockStart::Text(String::new()) },
    ] {
        machine.handle(Timestamp::from_millis(2), Input::Model(call, item(event))).expect("it fits");
    }
    while machine.poll().is_some() {}
    (machine, call)
}

fn machine(c: &mut Criterion) {
    let mut group = c.benchmark_group("machine");
    group.throughput(Throughput::Elements(DELTAS as u64));
    group.bench_function("text deltas", |b| {
        b.iter_batched(
            streaming,
            |(mut machine, call)| {
                for _ in 0..DELTAS {
                    let delta = StreamDelta::Text(WORDS.to_owned());
                    let event = ModelEvent::BlockDelta { index: 0, delta };
                    machine.handle(Timestamp::from_millis(3), Input::Model(call, item(event))).expect("it fits");
                    while let Some(output) = machine.poll() {
                        black_box(&output);
                    }
                }
                machine
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn messages(bytes: usize) -> Vec<SharedMessage> {
    let mut messages = vec![Message::user_text("go").into()];
    for at in 0..bytes / 5_000 {
        let id = format!("toolu_{at}");
        let call =
            windlass::tool::ToolUse::new(id.as_str(), "Read", JsonText::parse(r#"{"file_path":"/a"}"#).expect("JSON"));
        messages.push(Message::assistant(vec![ContentBlock::ToolUse(call)]).into());
        let result = ToolResult::ok(id.as_str(), "some text ".repeat(490));
        messages.push(Message::user(vec![ContentBlock::ToolResult(result)]).into());
    }
    messages
}

/// Benchmarks requests over a real socket; the figure covers both sides.
fn provider(c: &mut Criterion) {
    let runtime = runtime();
    let server = WireServer::start_on_thread().expect("a server");
    server.forget_requests();
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).build().expect("a provider");
    let run = |request: Arc<ModelRequest>| {
        runtime.block_on(async {
            let mut stream = provider.stream(request).await.expect("a stream");
            let mut items = 0;
            while let Some(item) = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
                items += 1;
                if item.expect("an item").event == ModelEvent::MessageStop {
                    break;
                }
            }
            items
        })
    };

    let mut group = c.benchmark_group("provider");
    let many = Reply::message(WireMessage::new().text_deltas((0..DELTAS).map(|_| WORDS)));
    let many = Reply::stream_bytes(many.body());
    server.on_request(move |_| many.clone());
    group.throughput(Throughput::Elements(DELTAS as u64));
    let small = Arc::new(ModelRequest::new("m", vec![Message::user_text("hi").into()], 100));
    group.bench_function("stream of text deltas", |b| b.iter(|| run(Arc::clone(&small))));

    let short = Reply::stream_bytes(Reply::message(WireMessage::new().text("ok")).body());
    server.on_request(move |_| short.clone());
    let history = messages(1_000_000);
    group.throughput(Throughput::Bytes(1_000_000));
    let long = Arc::new(ModelRequest::new("m", history, 100));
    group.bench_function("request with 1 MB of history", |b| b.iter(|| run(Arc::clone(&long))));
    group.finish();
}

fn policy() -> Policy {
    let mut policy = Policy::new(PolicyConfig::new("/work"));
    let rules = [
        (Behavior::Deny, vec!["Read(./.env)".to_owned(), "Bash(curl:*)".to_owned()]),
        (Behavior::Allow, vec!["Edit(src/**)".to_owned(), "Bash(cargo test:*)".to_owned()]),
    ];
    for (behavior, rules) in rules {
        policy.add_rules(RuleSource::CliArg, behavior, &rules, Path::new("/work")).expect("rules");
    }
    policy
}

fn permissions(c: &mut Criterion) {
    let policy = policy();
    let facts =
        |tool: &str, access| CallFacts::new(tool, JsonText::empty_object(), access, CallDigest::new("0"), "/work");
    let path = "/work/src/main.rs";
    let read = facts("Read", Access::Reads(vec![path.into()])).with_path(PathFact::new(path, path, false));
    let edit = facts("Edit", Access::Writes(vec![path.into()])).with_path(PathFact::new(path, path, true));
    let text = "cd src && cargo test --all 2>&1 | tail -20";
    let command = CommandFacts::new(windlass_shell::analyse(text), Vec::new());
    let bash = facts("Bash", Access::Exec).with_command(command);
    let mut group = c.benchmark_group("permission");
    for (name, facts) in [("Read", &read), ("Edit", &edit), ("Bash", &bash)] {
        group.bench_function(name, |b| b.iter(|| policy.decide(black_box(facts), None, None)));
    }
    group.finish();
    c.bench_function("shell/analyse", |b| b.iter(|| windlass_shell::analyse(black_box(text))));
}

fn log(c: &mut Criterion) {
    let shared = messages(100_000);
    let header = LogHeader::new("/work", "0.1.0", "bench");
    let entries: Vec<Entry> = shared
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role == windlass_types::Role::User)
        .map(|(at, message)| {
            let mut user = windlass_types::UserEntry::new(message.content.clone());
            user.is_meta = false;
            Entry::new(format!("{at}").as_str().into(), None, Timestamp::from_millis(1), EntryKind::User(user))
        })
        .collect();
    c.bench_function("log/encode 20 results of 5 kB", |b| {
        b.iter_batched(
            || (LogEncoder::new(SessionId::from_bits(7), header.clone()), Vec::with_capacity(150_000)),
            |(mut encoder, mut out)| {
                for entry in &entries {
                    encoder.entry(entry, &mut out);
                }
                encoder.checksum(&mut out);
                out
            },
            BatchSize::SmallInput,
        );
    });
}

fn tools(c: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("its path");
    let file = root.join("a.rs");
    let body: String = (0..2_000).map(|line| format!("    let value_{line} = {line};\n")).collect();
    std::fs::write(&file, format!("{body}fn one() {{}}\n")).expect("a file");
    let judged = || vec![JudgedPath::new(&file, &file), JudgedPath::new(&root, &root)];
    let permit = Permit::new(CallDigest::new("0")).with_reads(judged()).with_writes(judged());
    let cx = windlass_benches::cx::in_folder(&root, permit);
    let call = |tool: Arc<dyn DynTool>, input: &JsonText| {
        let call = tool.prepare(input).expect("an input that fits");
        runtime.block_on(call.call(cx.clone())).expect("a result")
    };
    let json = |value| JsonText::of(&value).expect("JSON");
    let (read, edit): (Arc<dyn DynTool>, Arc<dyn DynTool>) = (Arc::new(Read::default()), Arc::new(Edit::default()));
    let (to, back) = ("fn two()", "fn one()");
    let change = |from, to| json(json!({"file_path": file, "old_string": from, "new_string": to}));
    let (forth, back) = (change(back, to), change(to, back));
    let input = json(json!({"file_path": file, "limit": 100}));
    let mut group = c.benchmark_group("tool");
    group.bench_function("Read 100 of 2,000 lines", |b| b.iter(|| call(Arc::clone(&read), &input)));
    group.bench_function("Edit a file of 50 kB, twice", |b| {
        b.iter(|| {
            call(Arc::clone(&edit), &forth);
            call(Arc::clone(&edit), &back)
        });
    });
    let grep: Arc<dyn DynTool> = Arc::new(windlass_builtin_tools::search::Grep::default());
    let search = json(json!({"pattern": "fn one", "output_mode": "content"}));
    group.bench_function("Grep one file of 50 kB", |b| b.iter(|| call(Arc::clone(&grep), &search)));
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = benches; config = short(); targets = machine, provider, permissions, log, tools);
criterion_main!(benches);
