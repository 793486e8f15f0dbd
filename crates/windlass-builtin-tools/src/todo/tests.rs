use super::*;

#[test]
fn a_list_is_read_in_the_wire_format() {
    let todo: Todo =
        serde_json::from_str(r#"{"content":"Run the tests","status":"in_progress","activeForm":"Running the tests"}"#)
            .unwrap();
    assert_eq!(todo, Todo::new("Run the tests", "Running the tests").with_status(TodoStatus::InProgress));
    let written = serde_json::to_string(&todo).unwrap();
    assert_eq!(written, r#"{"content":"Run the tests","status":"in_progress","activeForm":"Running the tests"}"#);
}

#[test]
fn unusable_lists_are_refused() {
    let todo = |content: &str, id: Option<&str>| Todo { id: id.map(str::to_owned), ..Todo::new(content, "x") };
    for (todos, expected) in [
        (vec![todo(" ", None)], "task 1 has no content"),
        (vec![todo("a", Some("1")), todo("b", Some("1"))], "more than one task"),
        (vec![todo("a", None); MAX_TODOS + 1], "at most 200"),
    ] {
        let error = check(&todos).unwrap_err();
        assert!(error.model_text().contains(expected), "{}", error.model_text());
    }
    assert!(check(&[todo("a", None), todo("a", None), todo("b", Some("1"))]).is_ok());
    assert!(check(&[]).is_ok());
}

#[test]
fn the_summary_names_what_comes_next() {
    let list = |statuses: &[TodoStatus]| {
        let todos: Vec<Todo> =
            (1..).zip(statuses).map(|(n, s)| Todo::new(format!("Step {n}"), "x").with_status(*s)).collect();
        summary(&todos)
    };
    use TodoStatus::{Completed, InProgress, Pending};
    assert!(list(&[Completed, InProgress, Pending]).ends_with("1 of 3 done. In progress: Step 2."));
    assert!(list(&[Completed, Pending]).contains("Next: Step 2."));
    assert!(list(&[Completed]).ends_with("1 of 1 done."));
}
