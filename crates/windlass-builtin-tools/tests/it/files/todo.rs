use serde_json::json;
use windlass_builtin_tools::TodoList;
use windlass_types::ContextChange;

use crate::files::session::{Session, structured};

#[tokio::test]
async fn a_list_replaces_the_one_before() {
    let session = Session::new();
    let todo = |content: &str, status: &str| json!({ "content": content, "status": status, "activeForm": "Doing it" });
    let first = json!([todo("Read", "in_progress"), todo("Write", "pending")]);
    let output = session.call("TodoWrite", json!({ "todos": first })).await.unwrap();
    assert_eq!(structured(&output), json!({ "oldTodos": [], "newTodos": first }));
    assert_eq!(output.content.text(), "The task list is updated: 0 of 2 done. In progress: Read.");
    let [ContextChange::Todos(todos)] = &output.changes[..] else { panic!("{:?}", output.changes) };
    assert_eq!(todos.to::<serde_json::Value>().unwrap(), first);

    let second = json!([todo("Read", "completed")]);
    let output = session.call("TodoWrite", json!({ "todos": second })).await.unwrap();
    assert_eq!(structured(&output), json!({ "oldTodos": first, "newTodos": second }));
    assert_eq!(session.state().get::<TodoList>().todos().len(), 1);
}

#[tokio::test]
async fn bad_lists_leave_the_old_one() {
    let session = Session::new();
    for todos in [
        json!([{ "content": "x", "status": "later", "activeForm": "x" }]),
        json!([{ "content": "", "status": "pending", "activeForm": "x" }]),
        json!("x"),
    ] {
        session.call("TodoWrite", json!({ "todos": todos })).await.unwrap_err();
    }
    assert!(session.state().get::<TodoList>().todos().is_empty());
}

#[tokio::test]
async fn the_form_of_a_task_in_progress_may_be_left_out() {
    let session = Session::new();
    let given = json!([{ "id": "1", "content": "Read", "status": "in_progress", "priority": "high" }]);
    let output = session.call("TodoWrite", json!({ "todos": given })).await.unwrap();
    let shown =
        json!([{ "id": "1", "content": "Read", "status": "in_progress", "priority": "high", "activeForm": "Read" }]);
    assert_eq!(structured(&output), json!({ "oldTodos": [], "newTodos": shown }));
}
