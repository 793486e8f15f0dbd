//! The prompt, from the command line and from standard input.

use crate::args::RunArgs;
use crate::failure::Usage;
use anyhow::Context;
use std::io::{Read, stdin};
use std::sync::mpsc;
use std::time::Duration;
use windlass::Prompt;

/// Maximum size of standard input that becomes part of a prompt, in bytes.
const MAX_INPUT_BYTES: usize = 10 << 20;
/// Time that standard input may stay silent when there is a prompt already: a parent that leaves an empty pipe open
/// must not stop the run.
const PATIENCE: Duration = Duration::from_secs(3);

/// Reads the whole prompt; `None` if it is empty and may be. Standard input is read only if it is not a terminal: its
/// words are not the user's, so they name no command and attach no file.
pub(crate) fn read(args: &RunArgs, stdin_is_terminal: bool, may_be_empty: bool) -> anyhow::Result<Option<Prompt>> {
    if args.has_two_prompts() {
        return Err(Usage("there are two prompts: quote the prompt if it has blanks".to_owned()).into());
    }
    let given = args.given_prompt().unwrap_or_default().to_owned();
    let piped = if stdin_is_terminal { String::new() } else { piped(!given.trim().is_empty())? };
    Ok(match (given.trim().is_empty(), piped.trim().is_empty()) {
        (false, true) => Some(Prompt::text(given)),
        (true, false) => Some(Prompt::quotation(piped)),
        (false, false) => Some(Prompt::text(given).with_quoted("the standard input of the command", piped)),
        (true, true) if may_be_empty => None,
        (true, true) => {
            let text = match args.resumes() && !args.has_empty_prompt() {
                true => {
                    "there is nothing to continue: the session has no open run. Give a prompt: `windlass -p PROMPT`"
                }
                false => "the prompt is empty: give it as `windlass -p PROMPT`, or on standard input",
            };
            return Err(Usage(text.to_owned()).into());
        }
    })
}

/// Reads all of standard input. With `impatient`, returns an empty text if no input comes.
fn piped(impatient: bool) -> anyhow::Result<String> {
    let (first, came) = mpsc::channel();
    let reader = move || {
        let mut input = stdin().lock();
        let mut bytes = vec![0; 64 * 1024];
        let read = input.read(&mut bytes);
        // The receiver is gone when the run continued without the input.
        let _ = first.send(());
        bytes.truncate(read?);
        if !bytes.is_empty() {
            input.take((MAX_INPUT_BYTES + 1) as u64).read_to_end(&mut bytes)?;
        }
        Ok::<_, std::io::Error>(bytes)
    };
    let reader = std::thread::Builder::new().name("input".to_owned()).spawn(reader);
    let reader = reader.context("standard input cannot be read: no thread can be started")?;
    if impatient && came.recv_timeout(PATIENCE).is_err() {
        return Ok(String::new());
    }
    let unreadable = |why: String| anyhow::anyhow!("standard input cannot be read{why}");
    let bytes = reader.join().map_err(|_| unreadable(String::new()))?;
    let bytes = bytes.map_err(|error| unreadable(format!(": {error}")))?;
    if bytes.len() > MAX_INPUT_BYTES {
        let text = "standard input is larger than 10 MiB: write it to a file and name the file in the prompt";
        return Err(Usage(text.to_owned()).into());
    }
    String::from_utf8(bytes).map_err(|_| {
        Usage("standard input is not UTF-8 text: write it to a file and name the file in the prompt".to_owned()).into()
    })
}
