use super::*;
use proptest::prelude::*;

fn new(subject: &str) -> Change {
    Change { subject: Some(subject.to_owned()), ..Change::default() }
}

fn three() -> Tasks {
    let mut tasks = Tasks::default();
    for (n, subject) in (1..).zip(["A", "B", "C"]) {
        tasks.add(n, new(subject)).unwrap();
    }
    tasks
}

fn waits(before: &str) -> Change {
    Change { blocked_by: vec![before.to_owned()], ..Change::default() }
}

#[test]
fn tasks_wait_for_each_other_and_never_for_themselves() {
    let mut tasks = three();
    assert_eq!(tasks.update("2", waits("1")).unwrap(), ["blockedBy"]);
    assert_eq!(tasks.update("2", waits("1")).unwrap(), [""; 0], "it waits already");
    assert_eq!(tasks.update("2", Change { blocks: vec!["3".into()], ..Change::default() }).unwrap(), ["blocks"]);
    assert_eq!((tasks.blocks("1"), tasks.blocks("2")), (vec!["2"], vec!["3"]));
    for (task, before) in [("1", "3"), ("1", "2"), ("1", "1")] {
        let error = tasks.update(task, waits(before)).unwrap_err();
        assert!(error.model_text().contains("would wait for itself"), "{}", error.model_text());
    }
    assert!(tasks.update("1", waits("9")).unwrap_err().model_text().contains("no task #9"));
    tasks.update("1", Change { status: Some(NewStatus::Completed), ..Change::default() }).unwrap();
    assert_eq!(tasks.open_blockers(tasks.find("2").unwrap()), [""; 0]);
    tasks.update("2", Change { status: Some(NewStatus::Deleted), ..Change::default() }).unwrap();
    assert!(tasks.find("3").unwrap().blocked_by.is_empty(), "what is deleted holds up no task");
}

#[test]
fn lists_of_the_other_tool_get_numbers() {
    let list = r#"[{"content":"A","status":"pending","activeForm":"x"},{"content":"B","status":"completed","activeForm":"x","id":"7"},
        {"content":"C","status":"pending","activeForm":"x","id":"7","priority":"high"},{"content":"D","status":"pending","id":"mine"}]"#;
    let tasks = Tasks::of(serde_json::from_str(list).unwrap());
    let ids: Vec<&str> = tasks.0.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["8", "7", "9", "mine"]);
    assert_eq!(Tasks::of(tasks.0.clone()), tasks, "names that are there stay");
    assert_eq!(tasks.todos()[2].priority, Some(TodoPriority::High));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut tasks = three();
    for (change, part) in [
        (new(" "), "`subject` is empty"),
        (new(&"x".repeat(MAX_LINE_CHARS + 1)), "at most 300"),
        (Change { description: Some("x".repeat(MAX_TEXT_CHARS + 1)), ..Change::default() }, "at most 10000"),
        (
            Change { metadata: Map::from_iter([("x".into(), "y".repeat(MAX_LIST_BYTES).into())]), ..Change::default() },
            "bytes",
        ),
    ] {
        let mut tasks = tasks.clone();
        assert!(tasks.update("1", change).unwrap_err().model_text().contains(part), "{part}");
    }
    (4..=200).for_each(|n| drop(tasks.add(n, new("x")).unwrap()));
    assert!(tasks.add(201, new("x")).unwrap_err().model_text().contains("which is the most"));
}

#[test]
fn fields_change_by_themselves() {
    let mut tasks = three();
    let change = Change { active_form: Some("Doing A".into()), owner: Some("me".into()), ..new("A again") };
    assert_eq!(tasks.update("1", change).unwrap(), ["subject", "activeForm", "owner"]);
    assert_eq!(tasks.find("2").unwrap().active_form, "B");
    let metadata = |value: Value| Change { metadata: Map::from_iter([("k".into(), value)]), ..Change::default() };
    assert_eq!(tasks.update("1", metadata(1.into())).unwrap(), ["metadata"]);
    assert_eq!(tasks.update("1", metadata(Value::Null)).unwrap(), ["metadata"]);
    assert!(tasks.find("1").unwrap().metadata.is_empty());
    assert_eq!(tasks.update("1", Change::default()).unwrap(), [""; 0]);
}

proptest! {
    #[test]
    fn any_links_leave_a_task_to_begin_with(links in prop::collection::vec((1u8..8, 1u8..8, any::<bool>()), 0..40)) {
        let mut tasks = Tasks::default();
        (1..8).for_each(|n| drop(tasks.add(n, new("x")).unwrap()));
        for (task, other, before) in links {
            let other = vec![other.to_string()];
            let change = if before {
                Change { blocked_by: other, ..Change::default() }
            } else {
                Change { blocks: other, ..Change::default() }
            };
            let _ = tasks.update(&task.to_string(), change);
        }
        // Each round completes a task that waits for none: all are completed in the end.
        for _ in 0..7 {
            let free = tasks.0.iter().find(|task| task.status == TodoStatus::Pending && tasks.open_blockers(task).is_empty());
            let id = free.expect("a task can begin").id.clone();
            tasks.update(&id, Change { status: Some(NewStatus::Completed), ..Change::default() }).unwrap();
        }
    }
}
