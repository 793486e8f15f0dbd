//! Questions to a working server.

use windlass_lsp::{CodeAnswer, CodeError, CodeIntelligence, CodeOperation, CodeQuery};

use crate::support::{Project, at, places};

#[tokio::test]
async fn a_server_starts_with_the_first_question_and_answers_each_kind() {
    let project = Project::new(&[("a.toy", "def one\n🦀 one two\ndef two\n")]);
    let (path, servers) = (project.root().join("a.toy"), project.servers(""));
    assert!(project.marks().is_empty(), "it has not started");
    let definition = servers.ask(at(CodeOperation::GoToDefinition, &path, 2, 3)).await.unwrap();
    assert_eq!(places(definition), [(1, 5, String::new())]);
    assert_eq!(project.count("start file://"), 1);
    let used = servers.ask(at(CodeOperation::FindReferences, &path, 2, 3)).await.unwrap();
    assert_eq!(places(used).len(), 2);
    let CodeAnswer::Text(text) = servers.ask(at(CodeOperation::Hover, &path, 2, 7)).await.unwrap() else { panic!() };
    assert_eq!(text, "the word two");
    let names = servers.ask(at(CodeOperation::DocumentSymbol, &path, 1, 1)).await.unwrap();
    assert_eq!(places(names), [(1, 5, "one".to_owned()), (3, 5, "two".to_owned())]);
    let named = servers.ask(CodeQuery::new(CodeOperation::WorkspaceSymbol).named("tw")).await.unwrap();
    assert_eq!(places(named), [(3, 5, "two".to_owned())]);
    for operation in [CodeOperation::IncomingCalls, CodeOperation::OutgoingCalls] {
        assert_eq!(places(servers.ask(at(operation, &path, 1, 5)).await.unwrap()), [(1, 5, "one".to_owned())]);
    }
    assert_eq!((project.count("start"), project.count("didOpen")), (1, 1), "one server, and the file is opened once");
}

#[tokio::test]
async fn diagnostics_are_those_of_the_file_as_it_is_now() {
    for mode in ["", "push"] {
        let project = Project::new(&[("a.toy", "bad one\nfine\n")]);
        let (path, servers) = (project.root().join("a.toy"), project.servers(mode));
        for (text, expected) in [
            ("bad one\nfine\n", vec![(1, "bad: one")]),
            ("fine\n\nbad one\nbad two\n", vec![(3, "bad: one"), (4, "bad: two")]),
            ("fine\n\nbad one\nbad two\n", vec![(3, "bad: one"), (4, "bad: two")]),
            ("fine\n", vec![]),
        ] {
            project.write("a.toy", text);
            let said = servers.diagnostics_of(std::slice::from_ref(&path)).await.unwrap();
            let said: Vec<_> = said.iter().map(|one| (one.line, one.message.as_str())).collect();
            assert_eq!(said, expected, "{mode}");
        }
    }
}

#[tokio::test]
async fn questions_see_what_changed_in_other_open_files() {
    let project = Project::new(&[("a.toy", "def one\n"), ("b.toy", "one\n")]);
    let (a, b) = (project.root().join("a.toy"), project.root().join("b.toy"));
    let servers = project.servers("");
    servers.ask(at(CodeOperation::Hover, &a, 1, 5)).await.unwrap();
    project.write("a.toy", "\n\ndef one\n");
    assert_eq!(
        places(servers.ask(at(CodeOperation::GoToDefinition, &b, 1, 1)).await.unwrap()),
        [(3, 5, String::new())]
    );
    std::fs::remove_file(&a).unwrap();
    assert_eq!(places(servers.ask(at(CodeOperation::GoToDefinition, &b, 1, 1)).await.unwrap()), []);
    assert_eq!(project.count("didClose"), 1);
}

#[tokio::test]
async fn what_no_server_knows_is_said_and_starts_none() {
    let project = Project::new(&[("a.txt", "x")]);
    let servers = project.servers("");
    let of_file = servers.ask(at(CodeOperation::Hover, &project.root().join("a.txt"), 1, 1)).await;
    assert!(matches!(of_file, Err(CodeError::NoServer { .. })), "{of_file:?}");
    let changed = servers.ask(CodeQuery::new(CodeOperation::ChangedFiles)).await;
    assert!(matches!(changed, Err(CodeError::NoServer { .. })), "{changed:?}");
    assert_eq!(servers.diagnostics_of(&[project.root().join("a.txt")]).await, Some(Vec::new()));
    assert!(project.marks().is_empty());
    let path = project.write("a.toy", "x");
    let refused = servers.ask(at(CodeOperation::GoToImplementation, &path, 1, 1)).await;
    assert!(matches!(refused, Err(CodeError::NotOffered { .. })), "{refused:?}");
}
