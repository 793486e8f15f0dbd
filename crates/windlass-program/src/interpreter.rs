//! Interpreter of one program: it runs until it requests calls, and continues with their answers.

use crate::meter::{Meter, beginning};
use crate::values::{empty_list, to_json, to_lua};
use mlua::chunk::ChunkMode;
use mlua::{Lua, LuaString, MultiValue, StdLib, Table, Thread, Value, VmState};
use std::sync::Arc;
use windlass_types::{JsonText, ToolOutcome};

/// Global environment of a program.
const PRELUDE: &str = include_str!("prelude.luau");

/// Maximum number of bytes of a text that is read as JSON.
const MOST_JSON: usize = 4 * 1024 * 1024;

/// One program in its interpreter.
pub(crate) struct Interpreter {
    lua: Lua,
    thread: Thread,
    meter: Arc<Meter>,
}

/// Next step of a program.
#[derive(Debug)]
pub(crate) enum Step {
    /// The program waits for these calls. The error is the reason why one cannot be made.
    Calls(Vec<Result<(String, JsonText), String>>),
    /// The program has ended with this value, as text; empty if it has returned none.
    Done(String),
    /// The program has failed.
    Failed(String),
}

/// Answer to a call.
#[derive(Debug)]
pub(crate) struct Answer {
    ok: bool,
    text: String,
    data: Option<serde_json::Value>,
}

impl Answer {
    /// Answer from the outcome of a call, with at most `most` bytes of its text.
    pub(crate) fn of(outcome: &ToolOutcome, most: usize) -> Self {
        let whole = outcome.content.text();
        let (mut text, is_cut) = beginning(whole.as_bytes(), most);
        if is_cut {
            text.push_str("\n[The rest of the result is left out.]");
        }
        let data = outcome.structured.as_ref().filter(|data| data.as_str().len() <= most);
        let data = data.and_then(|data| serde_json::from_str(data.as_str()).ok());
        Self { ok: !outcome.is_error, text, data }
    }

    /// Answer for a call that was not made.
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self { ok: false, text: why.into(), data: None }
    }
}

impl Interpreter {
    /// A program that has not begun. The error is the reason why it cannot.
    pub(crate) fn new(program: &str, meter: &Arc<Meter>) -> Result<Self, String> {
        Self::build(program, meter).map_err(|error| problem(&error))
    }

    fn build(program: &str, meter: &Arc<Meter>) -> mlua::Result<Self> {
        let libraries = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::BIT | StdLib::MATH;
        let lua = Lua::new_with(libraries, mlua::LuaOptions::default())?;
        lua.set_memory_limit(meter.limits.memory)?;
        let world: Table = lua.load(PRELUDE).set_name("=prelude").call(natives(&lua, meter)?)?;
        let watched = Arc::clone(meter);
        lua.set_interrupt(move |_| watched.step().map(|()| VmState::Continue).map_err(mlua::Error::runtime));
        let chunk = lua.load(program).set_name("=program").set_mode(ChunkMode::Text).set_environment(world);
        let thread = lua.create_thread(chunk.into_function()?)?;
        Ok(Self { lua, thread, meter: Arc::clone(meter) })
    }

    /// Runs the program until it requests calls, or ends. Takes as long as the program computes.
    pub(crate) fn resume(&self, answers: Option<&[Answer]>) -> Step {
        self.meter.begin();
        let step = self.advance(answers);
        self.meter.pause();
        match (step, self.meter.over()) {
            (_, Some(why)) => Step::Failed(why),
            (Ok(step), None) => step,
            (Err(error), None) => Step::Failed(problem(&error)),
        }
    }

    fn advance(&self, answers: Option<&[Answer]>) -> mlua::Result<Step> {
        let given: MultiValue = match answers {
            Some(answers) => self.thread.resume(self.table_of(answers)?)?,
            None => self.thread.resume(())?,
        };
        let first = given.into_iter().next().unwrap_or(Value::Nil);
        if !self.thread.is_resumable() {
            return Ok(returned(&first, self.meter.limits.output));
        }
        let Value::Table(calls) = first else { return Ok(Step::Failed("the program yielded".to_owned())) };
        let (count, most) = (calls.raw_len(), self.meter.limits.calls);
        if count > most {
            return Ok(Step::Failed(format!("the program makes more than {most} calls")));
        }
        (1..=count)
            .map(|at| calls.raw_get(at).map(|call: Value| wanted(&call)))
            .collect::<mlua::Result<_>>()
            .map(Step::Calls)
    }

    fn table_of(&self, answers: &[Answer]) -> mlua::Result<Table> {
        let list = self.lua.create_table()?;
        for answer in answers {
            let table = self.lua.create_table()?;
            table.raw_set("ok", answer.ok)?;
            table.raw_set("text", answer.text.as_str())?;
            if let Some(data) = &answer.data {
                table.raw_set("data", to_lua(&self.lua, data)?)?;
            }
            list.raw_push(table)?;
        }
        Ok(list)
    }
}

/// Native functions for the environment of a program.
fn natives(lua: &Lua, meter: &Arc<Meter>) -> mlua::Result<MultiValue> {
    let (stopped, printed) = (Arc::clone(meter), Arc::clone(meter));
    let over = lua.create_function(move |_, ()| Ok(stopped.is_over()))?;
    let write = lua.create_function(move |_, line: LuaString| {
        printed.print(&line.as_bytes());
        Ok(())
    })?;
    let encode = lua.create_function(|lua, value: Value| {
        let json = to_json(&value).map_err(|why| mlua::Error::runtime(format!("json.encode: {why}")))?;
        lua.create_string(json.to_string())
    })?;
    let decode = lua.create_function(|lua, text: LuaString| {
        let text = text.as_bytes();
        if text.len() > MOST_JSON {
            return Err(mlua::Error::runtime(format!("json.decode: a text has at most {MOST_JSON} bytes")));
        }
        let json: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| mlua::Error::runtime(format!("json.decode: {error}")))?;
        to_lua(lua, &json)
    })?;
    let functions = [over, write, encode, decode].into_iter().map(Value::Function);
    Ok(functions.chain([Value::NULL, empty_list()]).collect())
}

/// Call described by an item of a list: a name and an input.
fn wanted(call: &Value) -> Result<(String, JsonText), String> {
    let Value::Table(call) = call else {
        return Err("A call is a list of a name and an input: {\"Read\", {file_path = \"...\"}}.".to_owned());
    };
    let part = |at: usize| call.raw_get::<Value>(at).unwrap_or(Value::Nil);
    let Value::String(name) = part(1) else { return Err("A call begins with the name of a tool.".to_owned()) };
    let input = match part(2) {
        Value::Nil => serde_json::Value::Object(serde_json::Map::new()),
        input => to_json(&input).map_err(|why| format!("The input cannot be used: {why}."))?,
    };
    let input = JsonText::of(&input).map_err(|error| format!("The input cannot be used: {error}."))?;
    Ok((name.to_string_lossy(), input))
}

/// Returned value of a program, as text.
fn returned(value: &Value, most: usize) -> Step {
    let whole = match value {
        Value::Nil => return Step::Done(String::new()),
        Value::String(text) => text.as_bytes().to_vec(),
        value => match to_json(value) {
            Ok(json) => json.to_string().into_bytes(),
            Err(why) => return Step::Failed(format!("what it returned cannot be shown: {why}")),
        },
    };
    let (mut text, is_cut) = beginning(&whole, most);
    if is_cut {
        text.push_str(&format!("\n[What was returned beyond {most} bytes is left out.]"));
    }
    Step::Done(text)
}

/// Error of a program, in words for the model.
fn problem(error: &mlua::Error) -> String {
    let text = match error {
        mlua::Error::CallbackError { cause, .. } => return problem(cause),
        mlua::Error::SyntaxError { message, .. }
        | mlua::Error::RuntimeError(message)
        | mlua::Error::MemoryError(message) => message.clone(),
        other => other.to_string(),
    };
    let text = text.split("\nstack traceback").next().unwrap_or_default();
    beginning(text.as_bytes(), 4_000).0
}
