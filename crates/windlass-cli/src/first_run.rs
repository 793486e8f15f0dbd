//! The first start at a terminal, without a key for the model: what is missing and what to do.

use crate::models::local;
use crate::terminal::{clean, clean_line};
use std::io::{Write as _, stderr};
use std::path::Path;
use windlass::provider::ModelErrorKind;
use windlass::{Error, project::LoadedProject};

/// Servers of models on this machine that are asked at their usual addresses.
const LOCAL: [&str; 4] = ["ollama", "lmstudio", "llama.cpp", "vllm"];
/// Maximum number of models of a server that are named.
const MAX_LISTED_MODELS: usize = 3;

/// Returns `true` if an error means that the model has no key.
pub(crate) fn is_missing_key(error: &Error) -> bool {
    matches!(error, Error::Model(model) if model.kind == ModelErrorKind::Authentication)
}

/// Shows what is missing and what to do.
pub(crate) async fn show(error: &Error, project: &LoadedProject, cwd: &Path) -> std::io::Result<()> {
    let is_trusted = project.files().iter().all(|file| file.trusted);
    let text = screen(&error.to_string(), &local_models(project).await, is_trusted, cwd);
    stderr().write_all(clean(&text).as_bytes())
}

/// Models of servers on this machine, by the names that `--model` takes.
async fn local_models(project: &LoadedProject) -> Vec<String> {
    let mut names = Vec::new();
    for provider in LOCAL {
        let models = local::models(provider, project).await.unwrap_or_default();
        names.extend(models.into_iter().take(MAX_LISTED_MODELS).map(|model| model.id));
    }
    names
}

fn screen(problem: &str, local: &[String], is_trusted: bool, cwd: &Path) -> String {
    let mut text = format!("windlass needs a model before it starts: {problem}.\n\n");
    text.push_str("  With a key      windlass login              stores one of Anthropic; windlass login openai, gemini, … another\n");
    text.push_str("                  export ANTHROPIC_API_KEY=…  for this shell alone\n");
    match local {
        [] => text
            .push_str("  Without a key   a model of this machine: none answers (Ollama, LM Studio, llama.cpp, vLLM)\n"),
        [first, others @ ..] => {
            text.push_str(&format!("  Without a key   windlass --model {first}\n"));
            for name in others {
                text.push_str(&format!("                  windlass --model {name}\n"));
            }
        }
    }
    text.push_str("  To look first   windlass demo               an agent at work, without a key\n\n");
    text.push_str(&format!("It works in {}: ", clean_line(&cwd.display().to_string())));
    text.push_str("it reads there, and asks before it changes a file or runs a program.\n");
    if !is_trusted {
        text.push_str("What this project's own settings allow counts once you trust it: windlass trust --show\n");
    }
    text.push_str("windlass doctor checks the rest.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_says_what_is_missing_and_fits_a_window() {
        let cwd = Path::new("/work/app");
        let text = screen("no API key: set ANTHROPIC_API_KEY", &["ollama/qwen3".to_owned()], false, cwd);
        for part in ["windlass login", "--model ollama/qwen3", "windlass demo", "/work/app", "windlass trust --show"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.lines().count() <= 20 && text.lines().all(|line| line.len() <= 120), "{text}");
        let text = screen("no API key", &[], true, cwd);
        assert!(text.contains("none answers") && !text.contains("windlass trust"), "{text}");
    }
}
