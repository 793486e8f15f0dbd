//! First-run screen for a terminal without a model key: names the missing key and the ways to continue.

use crate::models::local;
use crate::terminal::{clean, clean_line};
use std::io::{Write as _, stderr};
use std::path::Path;
use windlass::provider::ModelErrorKind;
use windlass::{Error, project::LoadedProject};

/// Providers of local model servers, queried at their default addresses unless a variable (`OLLAMA_HOST`) is set.
const LOCAL_PROVIDERS: [&str; 4] = ["ollama", "lmstudio", "llama.cpp", "vllm"];
/// Maximum number of models that the screen lists for each server.
const MAX_LISTED_MODELS: usize = 3;

/// Returns `true` for an authentication error of the model provider.
pub(crate) fn is_missing_key(error: &Error) -> bool {
    matches!(error, Error::Model(model) if model.kind == ModelErrorKind::Authentication)
}

/// Writes the first-run screen to standard error.
pub(crate) async fn show(error: &Error, project: &LoadedProject, cwd: &Path) -> std::io::Result<()> {
    let is_trusted = project.files().iter().all(|file| file.trusted);
    let text = screen_text(&error.to_string(), &local_models(project).await, is_trusted, cwd);
    stderr().write_all(clean(&text).as_bytes())
}

/// Returns the names of local models, in the form that `--model` accepts.
async fn local_models(project: &LoadedProject) -> Vec<String> {
    let mut names = Vec::new();
    for provider in LOCAL_PROVIDERS {
        let models = local::models(provider, project).await.unwrap_or_default();
        names.extend(models.into_iter().take(MAX_LISTED_MODELS).map(|model| model.id));
    }
    names
}

fn screen_text(problem: &str, local_models: &[String], is_trusted: bool, cwd: &Path) -> String {
    let mut text = format!("windlass needs a model before it starts: {problem}.\n\n");
    text.push_str("  With a key      windlass login              stores one of Anthropic; windlass login openai, gemini, … another\n");
    text.push_str("                  export ANTHROPIC_API_KEY=…  for this shell alone\n");
    match local_models {
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
        let text = screen_text("no API key: set ANTHROPIC_API_KEY", &["ollama/qwen3".to_owned()], false, cwd);
        for part in ["windlass login", "--model ollama/qwen3", "windlass demo", "/work/app", "windlass trust --show"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.lines().count() <= 20 && text.lines().all(|line| line.len() <= 120), "{text}");
        let text = screen_text("no API key", &[], true, cwd);
        assert!(text.contains("none answers") && !text.contains("windlass trust"), "{text}");
    }
}
