//! Malicious programs: none of them may hang, fill the memory, or end the process.

use crate::{cx, fails, gives, tools, within};
use std::time::Duration;
use windlass_program::ProgramLimits;

/// Small limits, so that they are reached soon; time is not one of them.
fn tight() -> ProgramLimits {
    let mut limits = ProgramLimits::default();
    limits.steps = 200_000;
    limits.memory = 8 * 1024 * 1024;
    limits.computing = Duration::from_secs(600);
    limits
}

/// Error of a program within small limits.
async fn ends(program: &str) -> String {
    let output = within(tight(), program, &cx(tools())).await.unwrap();
    assert!(output.is_error, "{program}: {}", output.content.text());
    output.content.text()
}

#[tokio::test]
async fn loops_and_recursion_end() {
    for program in [
        "while true do end",
        "repeat until false",
        "for i = 1, math.huge do end",
        "local function f() return f() end f()",
        "while true do pcall(error) end",
        "while true do pcall(function() while true do end end) end",
        "local function f() pcall(f) f() end f()",
        "local t = {} for i = 1, 100 do t[i] = i end while true do table.sort(t, function() return true end) end",
        "for _ in (function() return 1 end) do end",
        "local s = ('a'):rep(5000) while true do s:find(('.*'):rep(20) .. 'b') end",
        "('a'):rep(30000):find(('a*'):rep(20) .. 'b')",
    ] {
        let text = ends(program).await;
        assert!(text.contains("steps") || text.contains("overflow"), "{program}: {text}");
    }
    for program in
        ["local function f() return 1 + f() end f()", "local function f() local ok, e = pcall(f) error(e) end f()"]
    {
        assert!(ends(program).await.contains("failed"));
    }
}

#[tokio::test]
async fn memory_is_bounded() {
    for program in [
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = {} end",
        "return ('x'):rep(2^31 - 1)",
        "return table.create(2^26, 1)",
        "local t = {} for i = 1, 1e9 do t[i * 1000000] = 1 end",
        "local s = ('x'):rep(4e6) local t = {} for i = 1, 100 do t[i] = s .. i end",
        "return table.concat(table.create(1e5, ('x'):rep(1e5)))",
        "return string.rep('%s', 1e5):format(unpack(table.create(1e5, 1)))",
        "return (('x'):rep(1e6):gsub('x', ('y'):rep(1e5)))",
        "local t = {} while true do local ok, e = pcall(function() t[#t + 1] = ('x'):rep(1e6) .. #t end) if not ok then error(e) end end",
    ] {
        let text = ends(program).await;
        assert!(text.contains("memory") || text.contains("too"), "{program}: {text}");
    }
    // A program can catch running out of memory; then the step limit ends it.
    let text = ends("local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1e6) .. #t end) end").await;
    assert!(text.contains("steps"), "{text}");
}

#[tokio::test]
async fn computing_is_bounded_in_time() {
    let mut limits = ProgramLimits::default();
    (limits.steps, limits.computing) = (u64::MAX, Duration::from_millis(200));
    let output = within(limits, "while true do end", &cx(tools())).await.unwrap();
    assert!(output.content.text().contains("computed for more than 200 ms"), "{}", output.content.text());
}

#[tokio::test]
async fn printing_and_returning_are_bounded() {
    let text = gives("for i = 1, 20000 do print(('x'):rep(100)) end").await;
    assert!(text.len() < 50_200 && text.ends_with("is left out.]"), "{}", text.len());
    let text = gives("return ('x'):rep(1e6)").await;
    assert!(text.len() < 50_200 && text.ends_with("is left out.]"), "{}", text.len());
    let text = gives("for i = 1, 100000 do print('') end").await;
    assert!(text.len() < 50_200, "{}", text.len());
    assert!(fails("error(('x'):rep(1e6))").await.len() < 5_000);
    assert!(fails("local t = {} for i = 1, 300000 do t[i] = i end return t").await.contains("parts"));
}

#[tokio::test]
async fn many_calls_are_refused() {
    let world = tools();
    let output = within(tight(), "while true do pcall(tools.echo, {}) end", &cx(world.clone())).await.unwrap();
    assert!(output.content.text().contains("more than 200 calls"), "{}", output.content.text());
    assert_eq!(world.made.lock().unwrap().len(), 200);
    let world = tools();
    let program = "local t = {} for i = 1, 1000 do t[i] = {'echo', {}} end call_all(t)";
    let output = within(tight(), program, &cx(world.clone())).await.unwrap();
    assert!(output.content.text().contains("more than 200 calls"), "{}", output.content.text());
    assert_eq!(world.made.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn deep_sources_and_values_do_no_harm() {
    let deep = |open: &str, middle: &str, close: &str, times: usize| {
        format!("return {}{middle}{}", open.repeat(times), close.repeat(times))
    };
    for program in [
        deep("(", "1", ")", 30_000),
        deep("{", "", "}", 30_000),
        deep("not ", "1", "", 15_000),
        deep("-", "1", "", 1_000).replace("--", "- -"),
        deep("1+", "1", "", 30_000),
        deep("1 ..", "1", "", 15_000),
        deep("1^", "1", "", 30_000),
        deep("f(", "", ")", 20_000),
        deep("function() return ", "1", " end", 2_500),
        "do ".repeat(20_000) + &" end".repeat(100),
        "if 1 then ".repeat(6_000),
        format!("local a = {} 1", "a.".repeat(30_000)),
        format!("return {}", "`{".repeat(20_000)),
        format!("local x: {}", "{".repeat(60_000)),
        format!("local x: {} number", "() -> ".repeat(10_000)),
        format!("return a{}", "[1]".repeat(20_000)),
        format!("return a{}", "()".repeat(30_000)),
        format!("return a {}", "and a ".repeat(10_000)),
        format!("if a then {} end", "elseif a then ".repeat(4_000)),
    ] {
        // The program is refused or runs; the process continues.
        let output = within(tight(), &program, &cx(tools())).await.unwrap();
        assert!(output.content.text().len() < 6_000);
    }
    let text = fails("local t = {} for i = 1, 100000 do t = {t} end return t").await;
    assert!(text.contains("deeper"), "{text}");
    let text = fails("return json.decode(('['):rep(100000))").await;
    assert!(text.contains("json.decode"), "{text}");
    assert_eq!(gives("local t = {} for i = 1, 100000 do t = {t} end return 'done'").await, "done");
}

#[tokio::test]
async fn patterns_and_texts_that_take_long_are_refused() {
    for program in [
        "return ('a'):rep(100):find(('a'):rep(201), 1, true)",
        "return ('a'):rep(3e6):find('b')",
        "return ('a'):rep(3e6):gsub('a', '')",
        "return ('a'):split(('a'):rep(500))",
        "for w in ('a'):rep(3e6):gmatch('.') do end",
        "return ('a'):match('(' .. ('%b()'):rep(100))",
    ] {
        let text = fails(program).await;
        assert!(text.contains("at most") || text.contains("malformed"), "{program}: {text}");
    }
}

#[tokio::test]
async fn a_long_program_is_refused() {
    let error = within(tight(), &"-- \n".repeat(20_000), &cx(tools())).await.unwrap_err();
    assert!(error.to_string().contains("65536"), "{error}");
}

#[tokio::test]
async fn tampering_with_the_world_hurts_the_program_alone() {
    for program in [
        "string.find = nil string.format = nil table.sort = nil table.pack = nil pcall = nil error = nil print('a') return 1",
        "for k in pairs(_G) do _G[k] = nil end return 1",
        "for k in pairs(string) do string[k] = nil end return 1",
    ] {
        let (text, _) = crate::run(program).await;
        assert!(text.len() < 500, "{text}");
    }
    assert_eq!(gives("table.pack = nil return pcall(print, 1)").await.len(), "false".len());
    let text = ends("pcall = function() end while true do end").await;
    assert!(text.contains("steps"), "{text}");
}
