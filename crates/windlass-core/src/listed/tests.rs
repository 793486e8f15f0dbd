use super::*;
use windlass_types::JsonText;

fn spec(name: &str, about: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec::new(name, about, JsonText::empty_object()))
}

fn request(listed: &ListedTools, appends: bool) -> (Vec<String>, Vec<(usize, Vec<String>)>) {
    let mut request = ModelRequest::new("m", Vec::new(), 1);
    listed.list(&mut request, appends);
    let names = |tools: &[Arc<ToolSpec>]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let added = request.added_tools.iter().map(|added| (added.after_messages, names(&added.tools))).collect();
    (names(&request.tools), added)
}

#[test]
fn what_was_listed_stays_and_what_comes_is_added_behind() {
    let mut listed = ListedTools::default();
    listed.update(&Arc::from([spec("a", "1"), spec("b", "1")]), 1, &[]);
    listed.update(&Arc::from([spec("a", "1")]), 3, &[]);
    listed.update(&Arc::from([spec("c", "1"), spec("a", "1")]), 5, &[]);
    listed.update(&Arc::from([spec("b", "1"), spec("a", "1"), spec("c", "1"), spec("d", "1")]), 7, &[]);
    let added = vec![(5, vec!["c".to_owned()]), (7, vec!["d".to_owned()])];
    assert_eq!(request(&listed, true), (vec!["a".to_owned(), "b".to_owned()], added));
    assert_eq!(request(&listed, false), (["a", "b", "c", "d"].map(str::to_owned).to_vec(), vec![]));
}

#[test]
fn a_changed_definition_and_a_new_conversation_begin_the_list_anew() {
    let mut listed = ListedTools::default();
    listed.update(&Arc::from([spec("a", "1"), spec("b", "1")]), 1, &[]);
    listed.update(&Arc::from([spec("a", "2")]), 3, &[]);
    assert_eq!(request(&listed, true), (vec!["a".to_owned()], vec![]));
    listed.update(&Arc::from([spec("a", "2"), spec("c", "1")]), 5, &[]);
    listed.forget();
    listed.update(&Arc::from([spec("c", "1")]), 1, &[]);
    assert_eq!(request(&listed, true), (vec!["c".to_owned()], vec![]));
}

#[test]
fn what_an_earlier_process_added_keeps_its_place() {
    let logged = [(3, vec!["c".to_owned()]), (5, vec!["gone".to_owned()])];
    let mut listed = ListedTools::default();
    let offered = Arc::from([spec("a", "1"), spec("c", "1"), spec("d", "1")]);
    assert!(listed.update(&offered, 9, &logged).is_empty());
    let expected = (vec!["a".to_owned(), "d".to_owned()], vec![(3, vec!["c".to_owned()])]);
    assert_eq!(request(&listed, true), expected);
    let more = Arc::from([spec("a", "1"), spec("e", "1")]);
    assert_eq!(listed.update(&more, 11, &logged), ["e"]);
}
