//! Questions that are answered through handles.

use std::sync::{Arc, Mutex};
use windlass::permission::QuestionEvents;
use windlass::{
    EventKind, Outcome, PermissionAnswer, Permissions, Query, Run, ScriptedModel, permission::DecisionReason, query,
    tool_fn,
};
use windlass_model::ScriptedTurn;

type In = std::collections::BTreeMap<String, String>;

fn asked(ran: &Arc<Mutex<u32>>) -> Query {
    let ran = Arc::clone(ran);
    let deploy = tool_fn("deploy", "Deploys.", move |_: In, _| {
        *ran.lock().unwrap() += 1;
        async { Ok("deployed") }
    });
    let model = ScriptedModel::from_fn(|_, at| match at {
        0 => ScriptedTurn::new().tool_use("deploy", serde_json::json!({})),
        _ => ScriptedTurn::new().text("done"),
    });
    query("Deploy").provider(model).tools(deploy).permissions(Permissions::new().host(QuestionEvents))
}

/// Answers every question through the run's handle, and gives the reasons of all denials.
async fn play(run: &mut Run, answer: PermissionAnswer) -> Vec<DecisionReason> {
    let mut denied = Vec::new();
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::PermissionRequested(request) => {
                let handle = run.handle().await.unwrap();
                assert_eq!(handle.open_questions(), std::slice::from_ref(&request));
                handle.answer(&request.id, answer.clone()).unwrap();
            }
            EventKind::PermissionResolved { decision, .. } => denied.push(decision.reason),
            EventKind::RunFinished(result) => assert_eq!(result.outcome, Outcome::Success),
            _ => {}
        }
    }
    denied
}

#[tokio::test]
async fn a_stream_answers_what_it_sees() {
    let ran = Arc::default();
    play(&mut asked(&ran).stream(), PermissionAnswer::allow()).await;
    assert_eq!(*ran.lock().unwrap(), 1);
    let denied = play(&mut asked(&ran).stream(), PermissionAnswer::deny("no")).await;
    assert_eq!((*ran.lock().unwrap(), denied.as_slice()), (1, [DecisionReason::Host].as_slice()));
}

/// No one sees the events of a query that is awaited: it ends, and the call did not run.
#[tokio::test]
async fn an_awaited_query_denies_what_no_one_could_answer() {
    let ran = Arc::default();
    let result = asked(&ran).await.unwrap();
    assert_eq!((result.permission_denials.len(), *ran.lock().unwrap()), (1, 0));
}

/// The model may ask the user where questions can be answered, by whichever way.
#[cfg(feature = "tools")]
#[tokio::test]
async fn a_question_of_the_model_to_the_user_is_answered_through_the_handle() {
    use windlass::{ContentBlock, JsonText};
    use windlass_builtin_tools::AskUserQuestion;
    let input = serde_json::json!({ "questions": [{
        "question": "Which one?", "header": "Choice", "multiSelect": false,
        "options": [{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }],
    }]});
    let asks = input.clone();
    let model = ScriptedModel::from_fn(move |request, at| match at {
        0 => ScriptedTurn::new().tool_use("AskUserQuestion", asks.clone()),
        _ => ScriptedTurn::new().text(format!("{:?}", request.messages.last().unwrap())),
    });
    let mut run = query("Choose")
        .provider(model)
        .tools(AskUserQuestion::default())
        .permissions(Permissions::new().host(QuestionEvents))
        .stream();
    let mut text = String::new();
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::PermissionRequested(request) => {
                let mut answered = input.clone();
                answered["answers"] = serde_json::json!({ "Which one?": "B" });
                let updated_input = Some(JsonText::parse(answered.to_string()).unwrap());
                let answer = PermissionAnswer::Allow { updated_input, updates: Vec::new() };
                run.handle().await.unwrap().answer(&request.id, answer).unwrap();
            }
            EventKind::BlockFinished { block: ContentBlock::Text { text: said, .. }, .. } => text = said,
            _ => {}
        }
    }
    assert!(text.contains("Which one?") && text.contains('B'), "{text}");
}
