//! Kills a running program two hundred times: every session resumes, nothing
//! that was acknowledged is lost, no effect happens twice.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use windlass::{
    Access, EventKind, Home, Outcome, Permissions, ScriptedModel, SessionId, ToolCx, query, tool::tool_fn_with, tool_fn,
};
use windlass_model::ScriptedTurn;
use windlass_session::{ProjectKey, SessionKey, SessionStore, Transcript, check_messages, repair};
use windlass_store::JsonlStore;
use windlass_types::EntryKind;

const KILLS: usize = 200;
const SESSIONS: usize = 10;
pub(crate) const SESSION: &str = "00000000-0000-4000-8000-000000000001";
pub(crate) const ROUND: &str = "WINDLASS_KILL_ROUND";
pub(crate) const PLACE: &str = "WINDLASS_KILL_PLACE";

type Input = BTreeMap<String, u32>;

/// Works without end: each turn has two calls with an effect and one without,
/// whose ids were never used before.
fn endless(round: String) -> ScriptedModel {
    ScriptedModel::from_fn(move |request, number| {
        let messages = request.messages.iter().map(|message| &**message);
        check_messages(messages).expect("the request after a kill is valid");
        let turn = ScriptedTurn::new().id(format!("m{round}.{number}")).text("So.");
        if round == "last" {
            return turn;
        }
        let call = |turn: ScriptedTurn, at: usize, tool| {
            turn.tool_use_with_id(format!("t{round}.{number}.{at}"), tool, Input::new())
        };
        call(call(call(turn, 0, "act"), 1, "look"), 2, "act")
    })
}

/// The program that is killed. It says what was acknowledged, one line each.
#[test]
fn child() {
    let (Ok(round), Ok(place)) = (std::env::var(ROUND), std::env::var(PLACE)) else { return };
    let place = Path::new(&place);
    let effects = std::fs::OpenOptions::new().create(true).append(true).open(place.join("effects")).unwrap();
    let act = tool_fn_with("act", "Has an effect.", effects, |effects, _: Input, cx: ToolCx| async move {
        (&*effects).write_all(format!("{}\n", cx.tool_use_id()).as_bytes())?;
        Ok("done")
    });
    let look = tool_fn("look", "Looks.", |_: Input, _| async { Ok("seen") }).with_access(Access::NOTHING);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut run = query("go on")
            .provider(endless(round))
            .tools(act)
            .tools(look)
            .cwd(place)
            .permissions(Permissions::new().allow(["act"]))
            .persist(Home::new(place.join("home")))
            .session_id(SESSION)
            .stream();
        while let Some(event) = run.try_next().await.unwrap() {
            let line = match event.kind {
                EventKind::ToolFinished(finished) => format!("ACK result {}", finished.result.tool_use_id),
                EventKind::MessageFinished { message_id, .. } => format!("ACK message {message_id}"),
                EventKind::RunFinished(result) => {
                    assert_eq!(result.outcome, Outcome::Success);
                    "ACK end".to_owned()
                }
                _ => continue,
            };
            let mut out = std::io::stdout().lock();
            writeln!(out, "{line}").unwrap();
            out.flush().unwrap();
        }
    });
}

/// When a child is killed: after so many acknowledgements, and a moment more.
pub(crate) struct Death {
    pub(crate) acknowledgements: usize,
    pub(crate) moment: Duration,
}

/// Runs the child, a test by its name, and kills it. Returns what it acknowledged.
pub(crate) fn run(child: &str, place: &Path, round: &str, death: Option<&Death>) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([child, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROUND, round)
        .env(PLACE, place)
        .env_remove("RUST_BACKTRACE")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    if let Some(death) = death {
        while said.matches("ACK").count() < death.acknowledgements && out.read_line(&mut said).unwrap() > 0 {}
        std::thread::sleep(death.moment);
        child.kill().unwrap();
    }
    out.read_to_string(&mut said).unwrap();
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert!(complaint.is_empty() && !said.contains("FAILED"), "round {round}: {said}\n{complaint}");
    let status = child.wait().unwrap();
    assert!(status.success() || death.is_some(), "{status}: {said}");
    // A line without its end was cut by the kill: it was never said.
    let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().filter_map(|line| Some(line.split_once("ACK ")?.1.to_owned())).collect()
}

/// Entries of the log, named as the child acknowledges them, and the number of answers to a call.
fn kept(place: &Path) -> (HashSet<String>, usize) {
    let store = JsonlStore::new(place.join("home"));
    let project = ProjectKey::of(&std::fs::canonicalize(place).unwrap());
    let key = SessionKey::new(project, SessionId::from(SESSION));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let loaded = runtime.block_on(store.load(&key)).unwrap();
    assert_eq!(loaded.report.skipped_total, 0, "{:?}", loaded.report);
    // A kill in the middle of a write cuts one line off, of which nobody was told.
    assert!(loaded.report.torn <= KILLS / SESSIONS, "{:?}", loaded.report);
    let (entries, report) = repair(loaded.entries);
    assert!(report.synthetic.is_empty() && report.dropped_results == 0, "{report:?}");
    let messages = Transcript::from_entries(&entries).messages();
    check_messages(messages.iter().map(|message| &**message)).unwrap();
    let mut kept = HashSet::new();
    let mut unknown = 0;
    for entry in &entries {
        match &entry.kind {
            EntryKind::Assistant(message) => assert!(kept.insert(format!("message {}", message.message_id))),
            EntryKind::ToolResult(result) => {
                assert!(kept.insert(format!("result {}", result.result.tool_use_id)), "answered twice: {result:?}");
                unknown += usize::from(result.result.content.text().contains("outcome of this call is unknown"));
            }
            _ => {}
        }
    }
    (kept, unknown)
}

/// Numbers that look random and are the same each time; what a kill meets is
/// chance all the same.
pub(crate) fn dice(seed: &mut u64, of: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % of
}

#[test]
fn two_hundred_kills_lose_nothing_and_repeat_nothing() {
    let mut seed = 7;
    let (mut acknowledged_in_all, mut unknown_in_all) = (0, 0);
    for session in 0..SESSIONS {
        let place = tempfile::tempdir().unwrap();
        let mut acknowledged = Vec::new();
        for kill in 0..KILLS / SESSIONS {
            let death = Death {
                acknowledgements: dice(&mut seed, 12) as usize,
                moment: Duration::from_micros(dice(&mut seed, 4_000)),
            };
            acknowledged.extend(run("kill::child", place.path(), &format!("{session}-{kill}"), Some(&death)));
        }
        acknowledged.extend(run("kill::child", place.path(), "last", None));
        assert_eq!(acknowledged.last().map(String::as_str), Some("end"));
        let (kept, unknown) = kept(place.path());
        for promise in acknowledged.iter().filter(|promise| *promise != "end") {
            assert!(kept.contains(promise), "{promise} is lost");
        }
        let effects = std::fs::read_to_string(place.path().join("effects")).unwrap();
        let once: HashSet<&str> = effects.lines().collect();
        assert_eq!(once.len(), effects.lines().count(), "an effect happened twice");
        for id in once {
            assert!(kept.contains(&format!("result {id}")), "{id} had an effect that nobody was told of");
        }
        acknowledged_in_all += acknowledged.len();
        unknown_in_all += unknown;
    }
    assert!(acknowledged_in_all > KILLS, "the kills came too early to show anything: {acknowledged_in_all}");
    assert!(unknown_in_all > 0, "no kill met a call that ran");
}
