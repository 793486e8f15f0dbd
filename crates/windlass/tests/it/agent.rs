//! An agent as a value, and errors as their users read them.

use futures_util::FutureExt;
use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use windlass::options::{LimitOptions, ModelOptions};
use windlass::provider::{ModelInfo, ModelOverride, ModelProfile, UnpricedModels};
use windlass::session::SessionError;
use windlass::{Error, EventKind, ScriptedModel, agent, query, session, tool_fn};
use windlass_model::ScriptedTurn;

type In = std::collections::BTreeMap<String, String>;

/// A model that reports which tools it was offered.
fn lists_tools() -> ScriptedModel {
    ScriptedModel::from_fn(|request, _| {
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        ScriptedTurn::new().text(names.join(","))
    })
}

fn tool(name: &str) -> impl windlass::tool::DynTool {
    tool_fn(name, "Does nothing.", |_: In, _| async { Ok("done") })
}

#[tokio::test]
async fn an_agent_is_cloned_and_asked_and_each_query_is_its_own() {
    let base = agent().provider(lists_tools()).tools(tool("one"));
    let more = base.clone().tools(tool("two"));
    assert_eq!(base.query("?").await.unwrap().text, "one");
    assert_eq!(more.query("?").await.unwrap().text, "one,two");
    // A tool added to a query applies to that query alone.
    assert_eq!(base.query("?").tools(tool("three")).await.unwrap().text, "one,three");
    let (first, second) = (base.query("?").await.unwrap(), base.query("?").await.unwrap());
    assert_ne!(first.session_id, second.session_id);
    assert_eq!(second.text, "one");
}

#[tokio::test]
async fn an_agent_opens_sessions() {
    let base = agent().provider(lists_tools()).tools(tool("one"));
    let mut session = base.session().open().await.unwrap();
    session.handle.prompt("?").unwrap();
    let mut text = String::new();
    while let Some(event) = session.events.try_next().await.unwrap() {
        if let EventKind::RunFinished(result) = event.kind {
            text = result.text;
            break;
        }
    }
    assert_eq!(text, "one");
}

#[tokio::test]
async fn two_tools_of_one_name_are_an_error() {
    let error = agent().provider(lists_tools()).tools(tool("one")).tools(tool("one")).query("?").await.unwrap_err();
    assert!(matches!(error, Error::Tools(_)) && error.to_string().contains("one"), "{error}");
}

#[test]
fn outside_of_a_runtime_is_an_error_and_no_panic() {
    let asked = query("?").provider(lists_tools()).into_future().now_or_never().unwrap();
    assert!(matches!(asked, Err(Error::NoRuntime { .. })));
    let opened = agent().provider(lists_tools()).session().open().now_or_never().unwrap();
    assert!(opened.unwrap_err().to_string().contains("#[tokio::main]"));
}

/// tokio panics where timers or I/O are used that the runtime does not have.
#[cfg(unix)]
#[test]
fn a_runtime_without_timers_or_io_is_an_error_and_no_panic() {
    let build = |io: bool, time: bool| {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        if io {
            builder.enable_io();
        }
        if time {
            builder.enable_time();
        }
        builder.build().unwrap()
    };
    for (io, time, missing) in [(false, false, "timers"), (true, false, "timers"), (false, true, "I/O")] {
        let runtime = build(io, time);
        let asked = runtime.block_on(async { query("?").provider(lists_tools()).await });
        let opened = runtime.block_on(async { agent().provider(lists_tools()).session().open().await });
        for error in [asked.unwrap_err(), opened.unwrap_err()] {
            let text = error.to_string();
            assert!(matches!(error, Error::NoRuntime { .. }), "{text}");
            assert!(text.contains(missing) && text.contains("enable_all()"), "{text}");
        }
    }
    let result = build(true, true).block_on(async { query("?").provider(lists_tools()).await });
    assert!(result.unwrap().outcome.is_success());
}

/// A system without threads is an error of the call, before anything panics.
#[test]
fn a_session_needs_a_thread_that_can_be_started() {
    // No system has room for such a stack.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().thread_stack_size(1 << 60).build().unwrap();
    let opened = runtime.block_on(async { session().provider(lists_tools()).open().await });
    let error = opened.expect_err("no thread can be started");
    assert!(matches!(error, Error::NoThread), "{error:?}");
    assert!(error.to_string().starts_with("no thread can be started"), "{error}");
}

/// A program that returns the error from `main` prints its `Debug`.
#[tokio::test]
async fn an_error_prints_as_a_sentence() {
    let error = query("?").await.unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(format!("{error:?}").starts_with("no model provider is set: "));
}

/// A budget that could not hold refuses the model at once, and the session works on with the one it has.
#[tokio::test]
async fn a_model_without_a_price_is_refused_under_a_budget() {
    for (unpriced, refused) in [(None, true), (Some(UnpricedModels::Allow), false)] {
        let models = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&models);
        let model = ScriptedModel::from_fn(move |request, _| {
            seen.lock().unwrap().push(request.model.clone());
            ScriptedTurn::new().text("ok")
        });
        let price = ModelOverride::new().input_price(1.0).output_price(1.0);
        let builder = session()
            .provider(model)
            .model("first")
            .model(ModelOptions::new().with_override("first", price))
            .max_budget_usd(1.0);
        let builder = unpriced
            .into_iter()
            .fold(builder, |builder, unpriced| builder.limits(LimitOptions::new().unpriced_models(unpriced)));
        let mut session = builder.open().await.unwrap();
        let free = ModelProfile::new("third", ModelInfo::new(200_000, 1_000));
        for set in [session.handle.set_model("second"), session.handle.set_model(free)] {
            assert_eq!(matches!(&set, Err(SessionError::UnpricedModel { .. })), refused, "{set:?}");
        }
        session.handle.set_model("first").unwrap();
        if !refused {
            session.handle.set_model("second").unwrap();
        }
        session.handle.prompt("?").unwrap();
        while !matches!(session.events.try_next().await.unwrap().unwrap().kind, EventKind::RunFinished(_)) {}
        assert_eq!(*models.lock().unwrap(), [if refused { "first" } else { "second" }]);
    }
}

#[tokio::test]
async fn a_session_changes_its_model_by_name() {
    let models = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&models);
    let model = ScriptedModel::from_fn(move |request, _| {
        seen.lock().unwrap().push(request.model.clone());
        ScriptedTurn::new().text("ok")
    });
    let mut session = agent().provider(model).model("first").session().open().await.unwrap();
    assert!(session.handle.set_model(" ").is_err());
    for name in ["first", "second"] {
        session.handle.set_model(name).unwrap();
        session.handle.prompt("?").unwrap();
        while !matches!(session.events.try_next().await.unwrap().unwrap().kind, EventKind::RunFinished(_)) {}
    }
    assert_eq!(*models.lock().unwrap(), ["first", "second"]);
}
