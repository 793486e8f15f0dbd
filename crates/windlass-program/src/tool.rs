//! The tool `Program`: small programs of the model that call other tools.

use crate::ProgramLimits;
use crate::interpreter::{Answer, Interpreter, Step};
use crate::meter::Meter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::Semaphore;
use windlass_blocking::run_blocking;
use windlass_tool::{Annotations, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, JsonText};

/// Maximum number of bytes of a program.
const LONGEST: usize = 64 * 1024;
/// Maximum number of concurrent programs of a session; others wait.
const MOST_AT_ONCE: usize = 4;

/// Runs small programs that call other tools; only their output enters the conversation.
///
/// The programs are written in Luau, a dialect of Lua, without files, clock or random numbers: the same answers of
/// tools lead to the same result. Each of their calls passes the gate of the session like any other.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Program {
    limits: ProgramLimits,
}

impl Program {
    /// Creates the tool, with these limits for each program.
    pub fn new(limits: ProgramLimits) -> Self {
        Self { limits }
    }
}

/// Input of [`Program`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ProgramInput {
    /// The program, in Luau.
    pub program: String,
    /// What it does, in a few words.
    #[serde(default)]
    pub description: Option<String>,
}

/// Slots for the programs of a session.
#[derive(Debug)]
struct Places(Semaphore);

impl Default for Places {
    fn default() -> Self {
        Self(Semaphore::new(MOST_AT_ONCE))
    }
}

/// Stops the program when its caller no longer waits.
struct Watch(Arc<Meter>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Tool for Program {
    const NAME: &'static str = "Program";
    const DESCRIPTION: &'static str = "\
Runs a small program that calls other tools in loops and conditions. Only what it prints and returns comes back to you, so use \
it when many calls are needed and little of what they give matters. For one call, make the call.

The language is Luau: Lua with `continue`, `+=` and `interpolated {strings}` in backquotes.
- `local text, data = tools.Read{file_path = \"/w/a.rs\"}` calls a tool by its name, with its usual input. It gives the text of \
the result, and its data if it has any. A call that fails or is denied raises an error, which `pcall` catches.
- `call_all({{\"Read\", {file_path = \"/w/a.rs\"}}, {\"Read\", {file_path = \"/w/b.rs\"}}})` makes calls side by side and gives \
a list of `{ok, text, data}`.
- `print(...)` and `return value` give the result.
- `json.encode`, `json.decode`, `json.null`; `{}` is an object, `json.empty_list` an empty list.
- string, table, math, bit32 and utf8 are there. Files, programs, the clock, chance, modules, coroutines and metatables are not; \
patterns have at most 200 bytes.

Every call is checked and asked about as if you had made it. Each program begins anew, with at most 200 calls.";
    type Input = ProgramInput;
    type Output = ToolOutput;

    fn access(&self, _: &ProgramInput) -> Access {
        Access::Calls
    }

    fn title(&self, input: &ProgramInput) -> Cow<'static, str> {
        match input.description.as_deref().map(str::trim).filter(|words| !words.is_empty()) {
            Some(words) => Cow::Owned(format!("Program: {words}")),
            None => Cow::Borrowed(Self::NAME),
        }
    }

    fn annotations(&self) -> Annotations {
        // The output may contain text of any tool that it calls.
        Annotations::default().with_foreign_output().with_bounded_output(true).with_max_result_bytes(110_000)
    }

    async fn call(&self, input: ProgramInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        if input.program.len() > LONGEST {
            return Err(ToolError::invalid_input(format!("`program` has at most {LONGEST} bytes")));
        }
        cx.calls()?;
        let places = cx.state::<Places>();
        let place = tokio::select! {
            place = places.0.acquire() => place.map_err(|_| ToolError::cancelled())?,
            () = cx.cancel().cancelled() => return Err(ToolError::cancelled()),
        };
        let meter = Meter::new(self.limits, cx.clone());
        let _watch = Watch(Arc::clone(&meter));
        let ended = tokio::select! {
            ended = run(input.program, &meter, cx) => ended?,
            () = cx.cancel().cancelled() => return Err(ToolError::cancelled()),
        };
        drop(place);
        output(ended, &meter)
    }
}

/// End of a program: with a text, or with a problem.
struct Ended {
    with: Result<String, String>,
    calls: usize,
}

/// Runs a program to its end, and makes the calls that it requests.
async fn run(program: String, meter: &Arc<Meter>, cx: &ToolCx) -> Result<Ended, ToolError> {
    let (mut calls, most) = (0, meter.limits.calls);
    let made = Arc::clone(meter);
    let interpreter = match blocking(move || Interpreter::new(&program, &made)).await? {
        Ok(interpreter) => Arc::new(interpreter),
        Err(problem) => return Ok(Ended { with: Err(problem), calls }),
    };
    let mut answers: Option<Vec<Answer>> = None;
    loop {
        let running = Arc::clone(&interpreter);
        let step = blocking(move || running.resume(answers.as_deref())).await?;
        let wanted = match step {
            Step::Done(text) => return Ok(Ended { with: Ok(text), calls }),
            Step::Failed(problem) => return Ok(Ended { with: Err(problem), calls }),
            Step::Calls(wanted) => wanted,
        };
        calls += wanted.len();
        if calls > most {
            return Ok(Ended { with: Err(format!("the program makes more than {most} calls")), calls: most });
        }
        answers = Some(made_calls(wanted, meter.limits.result, cx).await?);
    }
}

/// Makes calls concurrently, and waits for all.
async fn made_calls(
    wanted: Vec<Result<(String, JsonText), String>>,
    most: usize,
    cx: &ToolCx,
) -> Result<Vec<Answer>, ToolError> {
    let port = cx.calls()?;
    // All calls begin here; below they are waited for.
    let begun: Vec<_> = wanted.into_iter().map(|call| call.map(|(tool, input)| port.call(tool, input))).collect();
    let mut answers = Vec::with_capacity(begun.len());
    for call in begun {
        answers.push(match call {
            Ok(call) => Answer::of(&call.await, most),
            Err(why) => Answer::failed(why),
        });
    }
    Ok(answers)
}

/// Computes on a blocking thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    run_blocking(work).await.map_err(|why| ToolError::rejected(format!("The program could not run: {why}.")))
}

/// Output for the model.
fn output(ended: Ended, meter: &Meter) -> Result<ToolOutput, ToolError> {
    let Ended { with, calls } = ended;
    let printed = meter.printed();
    let mut parts = Vec::new();
    if !printed.is_empty() {
        parts.push(printed);
    }
    let failed = with.is_err();
    match with {
        Ok(text) if text.is_empty() && parts.is_empty() => {
            parts.push("The program printed and returned nothing.".into())
        }
        Ok(text) if text.is_empty() => {}
        Ok(text) => parts.push(text),
        Err(problem) => {
            parts.push(format!("The program failed: {problem}. It had made {calls} calls, whose effects stay."))
        }
    }
    let output =
        ToolOutput::text(parts.join("\n")).with_structured(&json!({ "calls": calls, "steps": meter.steps() }))?;
    Ok(if failed { output.failed() } else { output })
}
