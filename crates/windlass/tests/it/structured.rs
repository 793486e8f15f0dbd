//! Structured output through the public API.

use serde_json::json;
use std::sync::{Arc, Mutex};
use windlass::options::ToolSetOptions;
use windlass::{
    Access, Error, EventKind, Hook, HookContext, HookError, JsonText, Outcome, Permissions, Query, RunResult,
    ScriptedModel,
    event::{Continuation, Status},
    hook::{Interest, Stop, StopAction},
    query, session, tool_fn,
};
use windlass_model::ScriptedTurn;
use windlass_types::{ModelErrorKind, ModelInfo, ModelRequest, ToolChoice};

#[derive(Debug, PartialEq, serde::Deserialize, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
struct Verdict {
    /// Whether it builds.
    builds: bool,
    warnings: Option<u32>,
}

fn give(input: serde_json::Value) -> ScriptedTurn {
    ScriptedTurn::new().tool_use("StructuredOutput", input)
}

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(text)
}

/// A query over answers, one for each model call; the last is repeated.
fn asked(answers: Vec<ScriptedTurn>) -> Query {
    let model = ScriptedModel::from_fn(move |_, number| answers[number.min(answers.len() - 1)].clone());
    session().provider(model).output::<Verdict>().query("Does it build?")
}

async fn result(answers: Vec<ScriptedTurn>) -> RunResult {
    asked(answers).await.unwrap()
}

#[tokio::test]
async fn the_output_ends_the_run_and_has_its_type() {
    let result = result(vec![give(json!({"builds": true, "warnings": 3}))]).await;
    assert_eq!((&result.outcome, result.turns), (&Outcome::Success, 1));
    assert_eq!(result.output::<Verdict>().unwrap(), Some(Verdict { builds: true, warnings: Some(3) }));
    assert!(result.output::<Vec<u8>>().is_err());
}

#[tokio::test]
async fn an_awaited_query_gives_its_value() {
    let model = ScriptedModel::from_fn(|_, _| give(json!({"builds": true})));
    let typed = query("Does it build?").output::<Verdict>().provider(model).await.unwrap();
    assert_eq!(typed.value, Verdict { builds: true, warnings: None });
    assert_eq!((typed.result.turns, typed.result.outcome), (1, Outcome::Success));
    // A run without a value is an error, with the result in it.
    let model = ScriptedModel::from_fn(|_, _| say("Perhaps."));
    let error = query("Does it build?").provider(model).output::<Verdict>().await.unwrap_err();
    let Error::Unsuccessful(unsuccessful) = &error else { panic!("{error}") };
    assert_eq!(unsuccessful.result().outcome, Outcome::NoStructuredOutput { attempts: 6 });
}

/// Reads a number that its schema does not restrict.
#[derive(Debug, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
#[allow(dead_code, reason = "only its schema is read")]
struct Even {
    number: i64,
}

impl<'de> serde::Deserialize<'de> for Even {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("the number is odd"))
    }
}

#[tokio::test]
async fn a_value_that_fits_the_schema_and_not_the_type_is_an_error() {
    let model = ScriptedModel::from_fn(|_, _| give(json!({"number": 3})));
    let error = query("?").provider(model).output::<Even>().await.unwrap_err();
    assert!(error.to_string().contains("the number is odd"), "{error}");
}

#[tokio::test]
async fn the_output_is_exactly_what_the_model_wrote() {
    let model = ScriptedModel::from_fn(|_, _| {
        ScriptedTurn::new().tool_use_text("StructuredOutput", r#"{"n": 12345678901234567890123, "a":1.0}"#)
    });
    let schema = JsonText::parse(r#"{"type":"object","required":["n"]}"#).unwrap();
    let result = query("?").provider(model).tools(ToolSetOptions::new().output_schema(schema)).await.unwrap();
    assert_eq!(result.structured_output.unwrap().as_str(), r#"{"n": 12345678901234567890123, "a":1.0}"#);
}

#[tokio::test]
async fn a_missing_output_is_asked_for_and_an_unfit_one_is_explained() {
    let answers = vec![say("Yes."), give(json!({"builds": "yes"})), give(json!({"builds": true}))];
    let mut run = asked(answers).stream();
    let (mut why, mut errors, mut last) = (Vec::new(), Vec::new(), None);
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::Status(Status::Requesting { continuation, .. }) => why.push(continuation),
            EventKind::ToolFinished(finished) if finished.result.is_error => errors.push(finished.result.content),
            EventKind::RunFinished(result) => last = Some(result),
            _ => {}
        }
    }
    assert_eq!(why, [Continuation::Prompt, Continuation::StructuredOutput, Continuation::ToolResults]);
    assert_eq!(errors.len(), 1);
    assert!(format!("{:?}", errors[0]).contains("/builds"), "{errors:?}");
    assert_eq!(last.unwrap().output::<Verdict>().unwrap(), Some(Verdict { builds: true, warnings: None }));
}

#[tokio::test]
async fn attempts_are_bounded_together() {
    let stubborn = vec![say("No."), give(json!({})), say("No."), give(json!({"builds": 1})), say("Never.")];
    let result = result(stubborn).await;
    assert_eq!((&result.outcome, result.turns), (&Outcome::NoStructuredOutput { attempts: 6 }, 6));
    assert_eq!(result.structured_output, None);
    assert!(result.success().is_err());
}

#[tokio::test]
async fn other_tools_work_before_it_and_limits_count() {
    let look = || tool_fn("look", "Looks.", |_: Empty, _| async { Ok("green") }).with_access(Access::NOTHING);
    let answers = vec![ScriptedTurn::new().tool_use("look", json!({})), give(json!({"builds": true}))];
    let done = asked(answers.clone()).tools(look()).await.unwrap();
    assert_eq!((done.outcome, done.turns), (Outcome::Success, 2));
    let cut = asked(answers).tools(look()).max_turns(1).await.unwrap();
    assert_eq!(cut.outcome, Outcome::MaxTurns { limit: 1 });
}

#[derive(serde::Deserialize, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
struct Empty {}

/// Sends the run back once.
#[derive(Debug, Default)]
struct Once(Arc<Mutex<u32>>);

#[async_trait::async_trait]
impl Hook for Once {
    fn name(&self) -> &str {
        "once"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(windlass::hook::HookEventName::Stop)]
    }

    async fn stop(&self, _: &HookContext, _: &Stop) -> Result<StopAction, HookError> {
        let mut asked = self.0.lock().unwrap();
        *asked += 1;
        Ok(if *asked == 1 { StopAction::KeepGoing { feedback: "count".into() } } else { StopAction::Continue })
    }
}

#[tokio::test]
async fn a_stop_hook_has_its_say_and_the_last_output_counts() {
    let answers = vec![give(json!({"builds": true})), give(json!({"builds": true, "warnings": 2}))];
    let result = asked(answers).hook(Once::default()).await.unwrap();
    assert_eq!(result.turns, 2);
    assert_eq!(result.output::<Verdict>().unwrap(), Some(Verdict { builds: true, warnings: Some(2) }));
}

#[tokio::test]
async fn it_needs_no_permission_but_can_be_denied() {
    let denied = asked(vec![give(json!({"builds": true}))])
        .permissions(Permissions::new().deny(["StructuredOutput"]))
        .await
        .unwrap();
    assert!(matches!(denied.outcome, Outcome::NoStructuredOutput { .. }));
    for mode in [windlass::PermissionMode::Plan, windlass::PermissionMode::DontAsk] {
        let result = asked(vec![give(json!({"builds": true}))]).permission_mode(mode).await.unwrap();
        assert_eq!(result.outcome, Outcome::Success, "{mode:?}");
    }
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_fails_the_start() {
    for schema in [r#"{"type":"array"}"#, r#"{"type":"object","properties":1}"#] {
        let schema = JsonText::parse(schema).unwrap();
        let model = ScriptedModel::from_fn(|_, _| say("hi"));
        let error = query("?").provider(model).tools(ToolSetOptions::new().output_schema(schema)).await.unwrap_err();
        assert!(matches!(error, Error::OutputSchema(_)), "{error}");
    }
}

/// A model whose server takes a form for the answer, or not, and what it was asked.
async fn demanded(takes_form: bool, answers: Vec<ScriptedTurn>) -> (RunResult, Vec<Arc<ModelRequest>>) {
    let mut info = ModelInfo::new(100_000, 8_000);
    info.answer_format = takes_form;
    let model = ScriptedModel::from_fn(move |_, number| answers[number.min(answers.len() - 1)].clone()).with_info(info);
    let result = session().provider(model.clone()).output::<Verdict>().query("Does it build?").await.unwrap();
    let requests = model.requests();
    (result, requests)
}

#[tokio::test]
async fn an_output_that_is_missing_is_demanded_as_the_form_of_the_answer() {
    let answers = vec![say("It builds."), say(" {\"builds\": true, \"warnings\": 2}\n")];
    let (result, requests) = demanded(true, answers).await;
    assert_eq!((&result.outcome, result.turns), (&Outcome::Success, 2));
    assert_eq!(result.output::<Verdict>().unwrap(), Some(Verdict { builds: true, warnings: Some(2) }));
    assert_eq!((&requests[0].response_format, &requests[0].tool_choice), (&None, &ToolChoice::Auto));
    let format = requests[1].response_format.as_ref().unwrap();
    assert!(format.schema.as_str().contains("builds"), "{format:?}");
    assert_eq!((&requests[1].tools, &requests[1].tool_choice), (&requests[0].tools, &ToolChoice::None));
    // A server that does not heed the form is asked again, as before.
    let (result, requests) = demanded(true, vec![say("Perhaps.")]).await;
    assert_eq!((result.outcome, requests.len()), (Outcome::NoStructuredOutput { attempts: 6 }, 6));
    // An answer of the form with wrong values is refused as any call is.
    let answers = vec![say("It builds."), say(r#"{"builds": "yes"}"#), give(json!({"builds": true}))];
    let (result, requests) = demanded(true, answers).await;
    assert_eq!((&result.outcome, requests.len()), (&Outcome::Success, 3));
}

#[tokio::test]
async fn where_answers_have_no_form_the_call_is_demanded() {
    let answers = vec![say("It builds."), give(json!({"builds": true}))];
    let (result, requests) = demanded(false, answers).await;
    assert_eq!(result.outcome, Outcome::Success);
    assert_eq!(requests[1].tool_choice, ToolChoice::Tool("StructuredOutput".to_owned()));
    assert!(requests[1].response_format.is_none());
    // A model that refuses this is asked in words.
    let refused = ScriptedTurn::new().fail(ModelErrorKind::InvalidRequest);
    let answers = vec![say("It builds."), refused, say("It does."), give(json!({"builds": true}))];
    let (result, requests) = demanded(false, answers).await;
    assert_eq!((result.outcome, requests.len()), (Outcome::Success, 4));
    let choices: Vec<bool> = requests.iter().map(|request| request.tool_choice == ToolChoice::Auto).collect();
    assert_eq!(choices, [true, false, true, true]);
}
