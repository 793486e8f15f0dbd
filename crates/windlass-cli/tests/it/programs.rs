//! The tool with which a model writes small programs.

use crate::place::{Place, call, text, write};
use serde_json::json;

#[cfg(feature = "program")]
const LOOKS: &str = "\
local found = {}
for _, name in {'a.txt', 'b.txt', '.env'} do
  local ok, content = pcall(tools.Read, {file_path = root .. name})
  table.insert(found, name .. ' ' .. tostring(ok) .. ' ' .. (ok and content:match('%a+%d') or ''))
end
local made = pcall(tools.Write, {file_path = root .. 'new.txt', content = 'x'})
return table.concat(found, ', ') .. ', made ' .. tostring(made)";

fn place() -> Place {
    let place = Place::new();
    write(&place.work().join("a.txt"), "one1\n");
    write(&place.work().join("b.txt"), "two2\n");
    write(&place.work().join(".env"), "KEY=1\n");
    place
}

#[cfg(feature = "program")]
#[test]
fn programs_run_without_a_model() {
    let place = place();
    let input = json!({ "program": "return 'a' .. 1 + 1" }).to_string();
    let ran = place.run(&["tools", "call", "--programs", "Program", &input]).with_code(0);
    assert!(ran.lines()[0]["content"][0]["text"].as_str().unwrap().contains("a2"), "{}", ran.stdout);
}

#[cfg(feature = "program")]
#[test]
fn calls_of_a_program_pass_permissions_and_its_result_is_all_the_model_reads() {
    let place = place();
    let root = format!("{}/", place.work().canonicalize().unwrap().display());
    let program = format!("local root = {root:?}\n{LOOKS}");
    place.script(&[call("Program", &json!({ "program": program })), text("done")]);
    let ran = place
        .run(&["-p", "x", "--programs", "--disallowedTools", "Read(.env)", "--output-format", "stream-json"])
        .with_code(0);
    let results: Vec<String> =
        ran.lines().iter().filter(|frame| frame["type"] == "user").map(ToString::to_string).collect();
    assert!(
        results.iter().any(|result| result.contains("a.txt true one1, b.txt true two2, .env false , made false")),
        "{results:#?}"
    );
    assert!(!place.work().join("new.txt").exists(), "nobody allowed it");
}

#[cfg(feature = "program")]
#[test]
fn the_tool_is_there_if_it_is_asked_for() {
    let place = place();
    place.script(&[call("Program", &json!({ "program": "return 'it ' .. 'runs'" })), text("done")]);
    for (flags, runs) in [(&[][..], false), (&["--programs"][..], true), (&["--programs", "--tools", "Read"][..], true)]
    {
        let args = [&["-p", "x", "--output-format", "stream-json"], flags].concat();
        let ran = place.run(&args).with_code(0);
        assert_eq!(ran.stdout.contains("it runs"), runs, "{flags:?}: {}", ran.stdout);
    }
}

#[cfg(not(feature = "program"))]
#[test]
fn a_build_without_the_tool_says_how_to_get_one() {
    let place = place();
    place.script(&[call("Program", &json!({ "program": "return 1" })), text("done")]);
    let ran = place.run(&["-p", "x", "--programs"]).with_code(2);
    assert!(ran.stderr.contains("--features program") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    let ran = place.run(&["-p", "x", "--output-format", "stream-json"]).with_code(0);
    let tools = ran.lines()[0]["tools"].clone();
    assert!(tools.to_string().contains("\"Read\"") && !tools.to_string().contains("\"Program\""), "{tools}");
}
