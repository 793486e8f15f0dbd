//! Fakes of people, hooks, programs, time and chance, and the kits of their contracts: good implementations pass, and
//! each broken promise is found.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use windlass_hook::{
    Hook, HookContext, HookError, HookEvent, Hooks, Interest, PreToolUse, PreToolUseAction, PromptAction,
    UserPromptSubmit,
};
use windlass_permission::{CanUseTool, can_use_tool_fn};
use windlass_testkit::can_use_tool::{self, question};
use windlass_testkit::fake::{ManualClock, RecordingHook, ScriptedHost, ScriptedProcess, ScriptedRun, SequentialIds};
use windlass_testkit::{Gate, Violation, hook, system};
use windlass_tool::{Cancel, Clock, Ids, Process, ProcessCommand, ProcessExit};
use windlass_types::{HookCall, HookEventName, JsonText, PermissionAnswer, PermissionRequest, SessionId, Timestamp};

fn found<T>(result: Result<T, Violation>) -> String {
    result.err().map(|violation| violation.to_string()).unwrap_or_default()
}

// Hosts.

#[tokio::test]
async fn a_scripted_host_answers_waits_panics_and_counts() {
    let gate = Gate::new();
    let host = ScriptedHost::new().answer_at(&gate, PermissionAnswer::allow()).panic("no nerves").hang().allow();
    let asked = host.can_use_tool(question("Write"));
    let opened = async {
        gate.wait_arrived(1).await;
        gate.open();
    };
    assert_eq!(tokio::join!(asked, opened).0, PermissionAnswer::allow());
    let panicked = AssertUnwindSafe(host.can_use_tool(question("Edit"))).catch_unwind().await;
    assert_eq!(panicked.unwrap_err().downcast_ref::<String>().map(String::as_str), Some("no nerves"));
    assert!(host.can_use_tool(question("Bash")).now_or_never().is_none());
    assert_eq!((host.withdrawn(), host.remaining()), (1, 1));
    assert_eq!(host.can_use_tool(question("Bash")).await, PermissionAnswer::allow());
    let tools: Vec<String> = host.requests().into_iter().map(|request| request.tool).collect();
    assert_eq!(tools, ["Write", "Edit", "Bash", "Bash"]);
    assert!(
        matches!(host.can_use_tool(question("Bash")).await, PermissionAnswer::Deny { .. }),
        "an empty script denies"
    );
}

#[tokio::test]
async fn good_hosts_pass() {
    let questions = [question("Bash"), question("Read")];
    can_use_tool::all(&ScriptedHost::new(), &questions).await.unwrap();
    can_use_tool::all(&ScriptedHost::new().otherwise(PermissionAnswer::allow()), &questions).await.unwrap();
}

/// Holds a lock while it waits, and never releases it when dropped.
struct Stuck(AtomicUsize);

#[async_trait]
impl CanUseTool for Stuck {
    async fn can_use_tool(&self, _: PermissionRequest) -> PermissionAnswer {
        if self.0.fetch_add(1, Ordering::SeqCst) > 0 {
            std::future::pending::<()>().await;
        }
        tokio::task::yield_now().await;
        self.0.store(0, Ordering::SeqCst);
        PermissionAnswer::allow()
    }
}

#[tokio::test(start_paused = true)]
async fn broken_hosts_are_found() {
    let ask = [question("Bash")];
    let hangs = ScriptedHost::new().hang();
    assert_eq!(found(can_use_tool::all(&hangs, &ask).await), "ask about Bash: no answer in 30 s");
    let panics = ScriptedHost::new().panic("oh");
    assert_eq!(found(can_use_tool::all(&panics, &ask).await), "ask about Bash: it panicked: oh");
    let silent = ScriptedHost::new().deny(" ");
    assert!(found(can_use_tool::all(&silent, &ask).await).contains("a denial without a word"));
    for input in ["[]", r#"{"a":1,"a":2}"#] {
        let host = can_use_tool_fn(move |_| async move {
            let mut answer = PermissionAnswer::allow();
            if let PermissionAnswer::Allow { updated_input, .. } = &mut answer {
                *updated_input = JsonText::parse(input).ok();
            }
            answer
        });
        assert!(found(can_use_tool::all(&host, &ask).await).contains("no usable object"));
    }
    let stuck = found(can_use_tool::survives_withdrawal(&Stuck(AtomicUsize::new(0)), &ask[0]).await);
    assert!(stuck.starts_with("after questions taken back: ask about Bash: no answer"), "{stuck}");
    let stuck = found(can_use_tool::answers_side_by_side(&Stuck(AtomicUsize::new(0)), &ask).await);
    assert!(stuck.contains("no answer"), "{stuck}");
}

// Hooks.

#[tokio::test]
async fn a_recording_hook_records_answers_and_waits() {
    let gate = Gate::new();
    let recording = RecordingHook::of_all("r")
        .on(|event: &UserPromptSubmit| match event.prompt.as_str() {
            "bad" => Ok(PromptAction::Block { reason: "bad".to_owned() }),
            _ => Err("it fails".into()),
        })
        .wait_at(&gate);
    let hooks = Hooks::new([Arc::new(recording.clone()) as Arc<dyn Hook>]);
    let cx = HookContext::new(SessionId::new("s"), "/w".into());
    let bad = HookCall::from(UserPromptSubmit { prompt: "bad".to_owned() });
    {
        let mut asked = pin!(hooks.run(&cx, &bad));
        let polled = poll_fn(|task| Poll::Ready(asked.as_mut().poll(task))).await;
        assert!(polled.is_pending(), "the gate is shut");
    }
    gate.open();
    assert!(hooks.run(&cx, &bad).await.block.is_some());
    let other = HookCall::from(UserPromptSubmit { prompt: "other".to_owned() });
    assert_eq!(hooks.run(&cx, &other).await.failures.len(), 1);
    assert_eq!(recording.events(), [HookEventName::UserPromptSubmit; 3]);
    assert!(matches!(&recording.occasions()[2], HookCall::UserPromptSubmit(event) if event.prompt == "other"));
}

#[tokio::test]
async fn every_event_reaches_its_closure() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    fn counting<E: HookEvent>(hook: RecordingHook, count: &Arc<AtomicUsize>) -> RecordingHook {
        let count = Arc::clone(count);
        hook.on(move |_: &E| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(E::Action::default())
        })
    }
    macro_rules! counting_all {
        ($($(#[doc = $doc:literal])+ $name:ident: $method:ident($event:ident) -> $action:ident, $closure:ident($($tools:ident)?);)*) => {{
            let hook = RecordingHook::of_all("all");
            $(let hook = counting::<windlass_hook::event::$event>(hook, &count);)*
            hook
        }};
    }
    let recording = windlass_types::hook_events!(counting_all);
    let hooks = Hooks::new([Arc::new(recording.clone()) as Arc<dyn Hook>]);
    let cx = HookContext::new(SessionId::new("s"), "/w".into());
    let mut asked = Vec::new();
    for interest in recording.interests() {
        for call in hook::occasions(&interest) {
            hooks.run(&cx, &call).await;
            asked.push(call.event());
        }
    }
    assert_eq!(recording.events(), asked);
    assert_eq!(calls.load(Ordering::SeqCst), asked.len());
    let kinds: std::collections::BTreeSet<_> = asked.into_iter().collect();
    assert!(kinds.iter().eq(HookEventName::ALL), "an event without occasions: its payload has a field of its own");
}

#[tokio::test]
async fn good_hooks_pass() {
    let good: Arc<dyn Hook> = Arc::new(
        RecordingHook::of_all("good").on(|event: &PreToolUse| Ok(PreToolUseAction::deny(event.tool_name.clone()))),
    );
    hook::all(&good).await.unwrap();
}

/// A hook whose interests change, and which hangs after it was dropped.
struct Moody {
    asked: AtomicUsize,
    changing: bool,
}

#[async_trait]
impl Hook for Moody {
    fn name(&self) -> &str {
        "moody"
    }

    fn interests(&self) -> Vec<Interest> {
        let asked = if self.changing { self.asked.fetch_add(1, Ordering::SeqCst) } else { 0 };
        vec![Interest::tools(HookEventName::PreToolUse, [format!("Tool{asked}")])]
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        if self.asked.fetch_add(1, Ordering::SeqCst) > 0 {
            std::future::pending::<()>().await;
        }
        tokio::task::yield_now().await;
        self.asked.store(0, Ordering::SeqCst);
        Ok(PreToolUseAction::Continue)
    }

    async fn user_prompt_submit(&self, _: &HookContext, _: &UserPromptSubmit) -> Result<PromptAction, HookError> {
        Ok(PromptAction::Continue)
    }
}

#[tokio::test(start_paused = true)]
async fn broken_hooks_are_found() {
    let pre = || [Interest::all(HookEventName::PreToolUse)];
    let rewriting = |text: &'static str| {
        RecordingHook::new("h", pre())
            .on(move |_: &PreToolUse| Ok(PreToolUseAction::Rewrite { input: JsonText::parse(text).unwrap() }))
    };
    let cases: [(Arc<dyn Hook>, &str); 11] = [
        (Arc::new(RecordingHook::new(" ", pre())), "the hook has no name"),
        (Arc::new(RecordingHook::new("h", [])), "h listens to no event"),
        (Arc::new(RecordingHook::new("h", [Interest::tools(HookEventName::Stop, ["Bash"])])), "not about a tool"),
        (Arc::new(Moody { asked: AtomicUsize::new(0), changing: true }), "moody changes into"),
        (Arc::new(RecordingHook::new("h", pre()).wait_at(&Gate::new())), "h at PreToolUse: no answer"),
        (Arc::new(RecordingHook::new("h", pre()).on(|_: &PreToolUse| Err("oh".into()))), "failed: oh"),
        (Arc::new(RecordingHook::new("h", pre()).on(|_: &PreToolUse| panic!("oh"))), "it panicked"),
        (
            Arc::new(RecordingHook::new("h", pre()).on(|_: &PreToolUse| Ok(PreToolUseAction::deny("")))),
            "without a reason",
        ),
        (Arc::new(rewriting("[]")), "no usable object"),
        (Arc::new(rewriting(r#"{"a":1,"a":2}"#)), "no usable object"),
        (Arc::new(Moody { asked: AtomicUsize::new(0), changing: false }), "after it was dropped"),
    ];
    for (broken, violation) in cases {
        let text = found(hook::all(&broken).await);
        assert!(text.contains(violation), "expected {violation:?}, but got {text:?}");
    }
}

// Programs.

fn command(line: &str) -> ProcessCommand {
    let mut words = line.split(' ');
    let mut command = ProcessCommand::new(words.next().unwrap(), "/work");
    command.args = words.map(Into::into).collect();
    command
}

#[tokio::test]
async fn scripted_programs_are_found_by_their_line_in_order() {
    let programs = ScriptedProcess::new()
        .once("make", ScriptedRun::new().stdout("first"))
        .on("make clean", ScriptedRun::new().signal(9))
        .on("make", ScriptedRun::new().stdout("later").stderr("warning").leaving(2).taking(Duration::from_secs(3)))
        .on("slow", ScriptedRun::new().timed_out())
        .on("gone", ScriptedRun::new().not_started("gone was not found"))
        .otherwise(ScriptedRun::new().code(127));
    let never = Cancel::new();
    let run = async |line: &str| programs.run(command(line), &never).await.unwrap();
    assert_eq!(run("make clean").await.stdout.head, "first");
    assert_eq!(run("make clean").await.exit, ProcessExit::Signal(9));
    let later = run("make all").await;
    assert_eq!((later.stdout.head.as_str(), later.stderr.head.as_str(), later.stopped), ("later", "warning", 2));
    assert_eq!(later.duration, Duration::from_secs(3));
    assert_eq!(run("slow").await.exit, ProcessExit::TimedOut);
    assert_eq!(run("anything").await.exit, ProcessExit::Code(127));
    assert_eq!(programs.run(command("gone"), &never).await.unwrap_err().to_string(), "gone was not found");
    assert_eq!(programs.commands().len(), 6);
    assert_eq!(programs.abandoned(), 0);
}

#[tokio::test(start_paused = true)]
async fn scripted_programs_obey_time_cancel_and_drop() {
    let programs = ScriptedProcess::new().otherwise(ScriptedRun::new().stdout("begun").hang());
    let mut timed = command("sleep");
    timed.timeout = Some(Duration::from_secs(5));
    let outcome = programs.run(timed, &Cancel::new()).await.unwrap();
    assert_eq!((outcome.exit, outcome.stdout.head.as_str()), (ProcessExit::TimedOut, "begun"));

    let cancel = Cancel::new();
    let mut reporting = command("sleep");
    let giver = cancel.clone();
    reporting.progress = Some(Arc::new(move |text: &str| {
        assert_eq!(text, "begun");
        giver.cancel();
    }));
    assert_eq!(programs.run(reporting, &cancel).await.unwrap().exit, ProcessExit::Cancelled);
    let early = programs.run(command("sleep"), &cancel).await.unwrap();
    assert_eq!((early.exit, early.stdout.head.as_str()), (ProcessExit::Cancelled, ""), "it never began");

    let never = Cancel::new();
    assert!(programs.run(command("sleep"), &never).now_or_never().is_none());
    assert_eq!(programs.abandoned(), 1);
}

#[tokio::test]
async fn scripted_output_is_bounded_as_the_port_says() {
    for limit in [0, 1, 7, 100, 1_999, 2_000, 2_001] {
        let programs = ScriptedProcess::new().otherwise(ScriptedRun::new().stdout("\u{e9}".repeat(1_000)).stderr("e"));
        let mut bounded = command("print");
        bounded.inline_bytes = limit;
        let output = programs.run(bounded.clone(), &Cancel::new()).await.unwrap().stdout;
        let kept = output.head.len() + output.tail.len();
        assert!(kept <= limit, "{limit}");
        assert_eq!(kept as u64 + output.omitted_bytes, 2_000, "{limit}");
        bounded.merge_streams = true;
        let merged = programs.run(bounded, &Cancel::new()).await.unwrap();
        assert!(merged.stderr.head.is_empty());
        assert_eq!((merged.stdout.head.len() + merged.stdout.tail.len()) as u64 + merged.stdout.omitted_bytes, 2_001);
    }
}

// Time and chance.

#[derive(Debug, Default)]
struct Backwards(AtomicU64);

impl Clock for Backwards {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 - self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct Same;

impl Ids for Same {
    fn bits(&self) -> u128 {
        7
    }
}

/// Well-mixed ids, from the standard library's own hasher.
#[derive(Debug, Default)]
struct Mixed(std::collections::hash_map::RandomState, AtomicU64);

impl Ids for Mixed {
    fn bits(&self) -> u128 {
        use std::hash::BuildHasher;
        let half = || u128::from(self.0.hash_one(self.1.fetch_add(1, Ordering::Relaxed)));
        half() << 64 | half()
    }
}

#[test]
fn clocks_and_ids_are_checked() {
    let clock = ManualClock::new();
    system::gives_the_time(&clock).unwrap();
    clock.set(Timestamp::from_millis(0));
    assert_eq!(found(system::gives_the_time(&clock)), "the clock gives 1970-01-01T00:00:00.000Z");
    assert!(found(system::gives_the_time(&Backwards::default())).starts_with("the clock ran from"));

    system::gives_distinct_ids(&SequentialIds::starting_at(u64::MAX / 2)).unwrap();
    system::gives_distinct_ids(&Mixed::default()).unwrap();
    assert!(found(system::gives_distinct_ids(&Same)).contains("came twice among 8000"));
    system::gives_random_ids(&Mixed::default()).unwrap();
    assert!(found(system::gives_random_ids(&SequentialIds::new())).contains("do not look random"));
}
