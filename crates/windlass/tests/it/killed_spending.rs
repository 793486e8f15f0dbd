//! Kills of a running session that has a budget: the next opening knows what was paid, also for calls that were cut.

use super::kill::{Death, PLACE, ROUND, SESSION, dice, run};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass::testing::Gate;
use windlass::{
    Access, AgentDefinition, EventKind, Home, Outcome, Permissions, ScriptedModel, ScriptedTurn, SessionId, Subagents,
    query, tool_fn,
};
use windlass_session::{ProjectKey, SessionKey, SessionStore};
use windlass_store::JsonlStore;
use windlass_types::{EntryKind, ModelInfo, NanoUsd, Price, Usage};

/// Budget of the session for each kill, in dollars: enough for the calls before it.
const BUDGET: f64 = 0.2;
/// Price of a token of input and of output, in billionths of a dollar.
const PRICE: (u64, u64) = (3_000, 15_000);
/// Most tokens of each message.
const TOKENS: (u64, u64) = (100, 2_000);
const KILLS: &str = "WINDLASS_SPENDING_KILLS";

/// A model that notes each message as paid at its request. The main agent has two agents work at a time, and acts
/// itself.
fn paid_model(place: PathBuf, round: String) -> ScriptedModel {
    let mut info = ModelInfo::new(200_000, 4_000);
    info.price = Some(Price::new(PRICE.0, PRICE.1));
    let model = ScriptedModel::from_fn(move |request, number| {
        let mut paid = OpenOptions::new().create(true).append(true).open(place.join("paid")).unwrap();
        let tokens = (TOKENS.0, TOKENS.1.min(u64::from(request.max_output_tokens)));
        paid.write_all(format!("{}\n", tokens.0 * PRICE.0 + tokens.1 * PRICE.1).as_bytes()).unwrap();
        let gate = Gate::new();
        let (opens, mut seed) = (gate.clone(), number as u64 + 11);
        let wait = Duration::from_micros(dice(&mut seed, 6_000));
        std::thread::spawn(move || {
            std::thread::sleep(wait);
            opens.open();
        });
        let usage = Usage::new(tokens.0, tokens.1);
        let turn = ScriptedTurn::new().usage(usage).gate_at(2, &gate).id(format!("m{round}.{number}")).text("So.");
        let call = |turn: ScriptedTurn, at: usize, tool: &str, input| {
            turn.tool_use_with_id(format!("t{round}.{number}.{at}"), tool, input)
        };
        let is_main = request.tools.iter().any(|tool| tool.name == "Agent");
        let task = json!({ "description": "Look", "prompt": "Look.", "subagent_type": "looker" });
        match (is_main, number % 2) {
            (true, 0) => call(call(turn, 0, "Agent", task.clone()), 1, "Agent", task),
            (false, _) if request.messages.len() > 2 => turn,
            _ => call(turn, 0, "look", json!({})),
        }
    });
    model.with_info(info)
}

/// Number of kills: a few in the suite, more with `WINDLASS_SPENDING_KILLS=20`.
fn kills() -> u64 {
    std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(5)
}

/// The program that is killed.
#[test]
fn child() {
    let (Ok(round), Ok(place)) = (std::env::var(ROUND), std::env::var(PLACE)) else { return };
    let place = Path::new(&place);
    let look = tool_fn("look", "Looks.", |_: BTreeMap<String, u32>, _| async { Ok("seen") });
    let looker = AgentDefinition::new("looker", "Looks", "You look.");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut run = query("go on")
            .provider(paid_model(place.to_path_buf(), round))
            .tools(look.with_access(Access::NOTHING))
            .subagents(Subagents::new().with(looker).background_by_default(false))
            .cwd(place)
            .permissions(Permissions::new())
            .max_budget_usd(BUDGET * kills() as f64)
            .persist(Home::new(place.join("home")))
            .session_id(SESSION)
            .stream();
        while let Some(event) = run.try_next().await.unwrap() {
            let line = match event.kind {
                EventKind::MessageFinished { message_id, .. } => format!("ACK message {message_id}"),
                EventKind::RunFinished(result) if event.agent.is_main() => {
                    assert!(matches!(result.outcome, Outcome::MaxBudget { .. }), "{:?}", result.outcome);
                    let of_models = result.model_usage.values().map(|usage| usage.cost.nano()).sum::<u64>();
                    assert_eq!(of_models, result.cost.nano(), "{:?}", result.model_usage);
                    format!("ACK cost {}", result.cost.nano())
                }
                _ => continue,
            };
            let mut out = std::io::stdout().lock();
            writeln!(out, "{line}").unwrap();
            out.flush().unwrap();
        }
    });
}

/// Cost of all messages that the model was asked for, in billionths of a dollar.
fn paid(place: &Path) -> u64 {
    let paid = std::fs::read_to_string(place.join("paid")).unwrap();
    paid.lines().map(|line| line.parse::<u64>().unwrap()).sum()
}

/// Cost that the summary of a listed session shows.
fn listed_cost(place: &Path) -> Option<NanoUsd> {
    let store = JsonlStore::new(place.join("home"));
    let key = SessionKey::new(ProjectKey::of(&std::fs::canonicalize(place).unwrap()), SessionId::from(SESSION));
    let mut digest = windlass_session::SessionDigest::default();
    let log = std::fs::read(store.log_path(&key)).ok()?;
    log.split(|byte| *byte == b'\n').for_each(|line| digest.add(line, |_| ()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let loaded = runtime.block_on(store.load(&key)).unwrap();
    assert_eq!(loaded.report.skipped_total, 0, "{:?}", loaded.report);
    assert!(loaded.entries.iter().any(|entry| matches!(entry.kind, EntryKind::Spent(_))), "the log has the spending");
    digest.cost
}

#[test]
fn kills_do_not_make_a_session_forget_what_it_spent() {
    let budget = NanoUsd::from_usd(BUDGET * kills() as f64).nano();
    let (mut seed, mut cut) = (5, 0);
    let place = tempfile::tempdir().unwrap();
    let child = |round: &str, death: Option<&Death>| run("killed_spending::child", place.path(), round, death);
    for kill in 0..kills() {
        let death = Death {
            acknowledgements: 1 + dice(&mut seed, 6) as usize,
            moment: Duration::from_micros(dice(&mut seed, 8_000)),
        };
        if child(&kill.to_string(), Some(&death)).iter().any(|line| line.starts_with("cost")) {
            break;
        }
        cut += 1;
        let (known, paid) = (listed_cost(place.path()).unwrap_or_default().nano(), paid(place.path()));
        assert!(known >= paid, "kill {kill}: {known} is known of {paid}");
    }
    let said = child("last", None);
    let known = said.last().and_then(|line| line.strip_prefix("cost ")).unwrap().parse::<u64>().unwrap();
    let paid = paid(place.path());
    assert!(paid <= known && known <= budget, "{paid} was paid of {budget}, and {known} is known");
    assert!(paid > budget / 4 && cut > kills() / 2, "{cut} kills, {paid} was paid of {budget}");
}
