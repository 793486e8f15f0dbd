//! Tool as a model calls it.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_local::LocalWorkspace;
use windlass_lsp::Lsp;
use windlass_testkit::{ToolBench, tool};

use crate::support::Project;

fn bench(project: &Project) -> ToolBench {
    ToolBench::new(Lsp::new(Arc::new(project.servers("")))).workspace(LocalWorkspace::new()).root(project.root())
}

async fn text(bench: &ToolBench, input: Value) -> String {
    match bench.call(input).await {
        Ok(output) => output.content.text(),
        Err(error) => format!("refused: {}", error.model_text()),
    }
}

#[tokio::test]
async fn the_model_reads_places_and_what_went_wrong() {
    let project = Project::new(&[("a.toy", "def one\nsay one\n")]);
    let bench = bench(&project);
    let of = |operation: &str, line: u32, symbol: &str| json!({"operation": operation, "filePath": "a.toy", "line": line, "symbol": symbol});
    assert_eq!(text(&bench, of("goToDefinition", 2, "one")).await, "a.toy:1:5");
    assert_eq!(text(&bench, of("findReferences", 1, "one")).await, "a.toy:1:5\na.toy:2:5");
    assert_eq!(text(&bench, of("hover", 2, "say")).await, "the word say");
    assert_eq!(
        text(&bench, json!({"operation": "documentSymbol", "filePath": "a.toy"})).await,
        "one (function) a.toy:1:5"
    );
    assert_eq!(text(&bench, json!({"operation": "workspaceSymbol", "query": "on"})).await, "one (function) a.toy:1:5");
    assert_eq!(text(&bench, of("goToDefinition", 2, "say")).await, "Nothing was found.");
    project.write("a.toy", "bad luck\n");
    let said = text(&bench, json!({"operation": "diagnostics", "filePath": "a.toy"})).await;
    assert_eq!(said, "a.toy:1: Error [toy]: bad: luck");
    for (input, part) in [
        (of("hover", 9, "x"), "no line 9"),
        (of("hover", 1, "x"), "does not hold"),
        (json!({"operation": "hover", "filePath": "a.toy"}), "needs line"),
        (json!({"operation": "hover", "filePath": "a.toy", "line": 1}), "needs symbol"),
        (json!({"operation": "hover"}), "needs filePath"),
        (json!({"operation": "workspaceSymbol"}), "needs query"),
        (json!({"operation": "testFailures"}), "is not available here"),
        (json!({"operation": "documentSymbol", "filePath": "b.txt"}), "no language server for"),
    ] {
        let found = text(&bench, input).await;
        assert!(found.starts_with("refused: ") && found.contains(part), "{found}");
    }
}

#[tokio::test]
async fn the_tool_keeps_the_promises_of_tools() {
    let project = Project::new(&[("a.toy", "def one\n")]);
    let samples = [
        json!({"operation": "documentSymbol", "filePath": "a.toy"}),
        json!({"operation": "hover", "filePath": "none.toy", "line": 1, "symbol": "x"}),
    ];
    let unfit = [json!({}), json!({"operation": "fly"}), json!({"operation": "hover", "line": "x"})];
    let bench = bench(&project);
    tool::all(&bench, &samples).await.unwrap_or_else(|found| panic!("{found}"));
    tool::rejects_unfit_inputs(&bench, &unfit).unwrap_or_else(|found| panic!("{found}"));
}
