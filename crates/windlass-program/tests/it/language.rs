//! Language of programs, and their results.

use crate::{answering, cx, fails, gives, run, tools, within};
use serde_json::json;
use windlass_program::{Program, ProgramLimits};
use windlass_types::ToolOutcome;

#[tokio::test]
async fn what_is_printed_and_returned_is_the_result() {
    assert_eq!(
        gives("print('a', 1, true, nil); print{}; return {x = {1, 2}, y = 'z'}").await,
        "a\t1\ttrue\tnil\ntable\n{\"x\":[1,2],\"y\":\"z\"}"
    );
    assert_eq!(gives("return 'plain'").await, "plain");
    assert_eq!(gives("local n = 0 for i = 1, 10 do if i % 2 == 0 then continue end n += i end return n").await, "25");
    assert_eq!(gives("local who = 'you' return `hello {who} {1.5} {nil}`").await, "hello you 1.5 nil");
    assert_eq!(gives("").await, "The program printed and returned nothing.");
    assert_eq!(gives("return json.empty_list").await, "[]");
    assert_eq!(gives("return {json.null, 1}").await, "[null,1]");
    assert_eq!(gives("return {1, nil, 3}").await, "[1,null,3]");
}

#[tokio::test]
async fn tools_give_text_and_data_and_their_errors_can_be_caught() {
    let world = tools();
    let program = r#"
        local text, data = tools.echo{path = "a", list = {1, 2.5}, none = json.empty_list}
        local ok, why = pcall(tools.no, {})
        local other = pcall(function() tools.unknown() end)
        local both = call_all{{"echo", {n = 1}}, {"no"}, {"echo", {n = print}}}
        return {data.path, data.list[2], ok, why, other, both[1].data.n, both[2].ok, both[2].text, both[3].text}
    "#;
    let output = within(ProgramLimits::default(), program, &cx(world.clone())).await.unwrap();
    assert_eq!(
        output.content.text(),
        r#"["a",2.5,false,"it is denied",false,1,false,"it is denied","The input cannot be used: a function is no data."]"#
    );
    assert_eq!(output.structured.unwrap().as_str().split(',').next(), Some("{\"calls\":6"));
    let made = world.made.lock().unwrap();
    assert_eq!(made[0], ("echo".to_owned(), json!({ "path": "a", "list": [1, 2.5], "none": [] })));
    assert_eq!(made[2], ("unknown".to_owned(), json!({})));
    assert_eq!(made.len(), 5, "a call whose input is no data is not made");
}

#[tokio::test]
async fn a_program_that_fails_says_where_and_how_many_calls_it_had_made() {
    let text = fails("print('before')\ntools.echo{}\nlocal x = nil\nreturn x.y").await;
    assert_eq!(
        text,
        "before\nThe program failed: program:4: attempt to index nil with 'y'. It had made 1 calls, whose effects stay."
    );
    assert!(fails("return (").await.contains("program:1:"));
    assert!(fails("tools.no{}").await.contains("it is denied"));
    assert!(fails("return print").await.contains("a function is no data"));
    assert!(fails("local t = {} t.t = t return t").await.contains("nests deeper"));
    assert!(fails("return {1, 2, a = 3}").await.contains("a list or has names"));
    assert!(fails("return 0/0").await.contains("not finite"));
    assert!(fails("error({})").await.contains("The program failed"));
}

#[tokio::test]
async fn sorting_is_stable_and_right() {
    let program = "
        local list, seed = {}, 7
        for i = 1, 500 do seed = (seed * 1103515245 + 12345) % 2147483648 list[i] = {key = seed % 50, at = i} end
        table.sort(list, function(a, b) return a.key < b.key end)
        for i = 2, 500 do
            local a, b = list[i - 1], list[i]
            if a.key > b.key or (a.key == b.key and a.at > b.at) then return 'wrong' end
        end
        local words = {'c', 'a', 'b'} table.sort(words)
        local one, none = {1}, {} table.sort(one) table.sort(none)
        return #list .. table.concat(words) .. #one .. #none";
    assert_eq!(gives(program).await, "500abc10");
}

#[tokio::test]
async fn the_same_answers_lead_to_the_same_result() {
    let program = "
        local t = {} for i = 1, 200 do t['key' .. i] = i end
        local out = {} for k, v in t do table.insert(out, k) end
        return table.concat(out, ' ') .. tostring({}) .. string.format('%s', print) .. tostring(print)";
    let first = gives(program).await;
    for _ in 0..5 {
        assert_eq!(gives(program).await, first);
    }
    assert!(first.ends_with("tablefunctionfunction"), "{first}");
}

#[tokio::test]
async fn there_is_no_world_but_tools() {
    for name in [
        "os",
        "io",
        "require",
        "loadstring",
        "load",
        "dofile",
        "debug",
        "coroutine",
        "getfenv",
        "setfenv",
        "setmetatable",
        "getmetatable",
        "newproxy",
        "collectgarbage",
        "gcinfo",
        "buffer",
        "vector",
        "xpcall",
        "rawset",
        "rawget",
    ] {
        assert_eq!(gives(&format!("return tostring({name})")).await, "nil", "{name}");
    }
    for name in ["math.random", "math.randomseed", "string.pack", "table.move"] {
        assert_eq!(gives(&format!("return tostring({name})")).await, "nil", "{name}");
    }
    assert_eq!(gives("x = 1 return _G.x").await, "1");
    assert_eq!(gives("return tostring(x)").await, "nil", "each program begins anew");
    assert!(fails("tools.Read = 1").await.contains("cannot be changed"));
}

#[tokio::test]
async fn what_a_tool_gives_beyond_the_size_of_a_value_is_cut() {
    let program = "local text = tools.big{} return #text .. string.sub(text, -10)";
    let mut limits = ProgramLimits::default();
    limits.result = 1000;
    let output = within(limits, program, &cx(tools())).await.unwrap();
    assert_eq!(output.content.text(), "1038left out.]");
}

#[tokio::test]
async fn text_that_is_no_unicode_is_shown_all_the_same() {
    assert_eq!(gives("print(string.char(255, 65)) return string.char(66, 254)").await, "\u{fffd}A\nB\u{fffd}");
    assert_eq!(
        gives("return json.decode(json.encode({a = 'ä', b = 9007199254740991, c = 1e300})).b").await,
        "9007199254740991"
    );
    assert!(run("return json.decode('[')").await.0.contains("json.decode"));
}

#[tokio::test]
async fn fifty_calls_whose_results_the_model_need_not_read() {
    let files = answering(|_, input| {
        let at =
            input["file_path"].as_str().unwrap().trim_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().unwrap();
        let todo = if at % 10 == 0 { "// TODO: tidy this up\n" } else { "" };
        ToolOutcome::ok(format!("{}{todo}", "let answer = compute(42);\n".repeat(40)))
    });
    let program = "
        local found = {}
        for i = 1, 50 do
            local text = tools.Read{file_path = '/w/' .. i .. '.rs'}
            if text:find('TODO', 1, true) then table.insert(found, i) end
        end
        return found";
    let cx = cx(files);
    let output = within(ProgramLimits::default(), program, &cx).await.unwrap();
    assert_eq!(output.content.text(), "[10,20,30,40,50]");
}

#[test]
fn it_keeps_what_every_tool_promises() {
    let bench = windlass_testkit::ToolBench::new(Program::default());
    assert_eq!(bench.tool().spec().name, "Program");
    assert!(bench.tool().spec().description.len() < 2_000, "{}", bench.tool().spec().description.len());
}
