//! `windlass context`: the use of the context window before the first prompt of a session here.

use crate::args::ContextShowArgs;
use crate::failure::{of_project, of_start};
use crate::jsonl;
use crate::launch;
use crate::provider::{Lookup, providers};
use crate::settings::current_directory;
use crate::terminal::clean_line;
use crate::web::with_web_of_session;
use std::io::{Write, stderr, stdout};
use std::sync::Arc;
use windlass::provider::ModelInfo;
use windlass::session::{ContextKind, ContextSection, ContextUsage};
use windlass::{ModelProvider, Script, ScriptedModel, coding_tools, session};

/// Prints the parts, and returns the exit code. No model is called and no tool server connected.
pub(crate) async fn show(args: &ContextShowArgs) -> anyhow::Result<i32> {
    let cwd = current_directory()?;
    let project =
        launch::project(&args.settings, &cwd)?.plugins(args.plugins.directories()).file_servers(false).memory(true);
    let project = project.load().map_err(of_project)?;
    let variables = project.clone();
    let lookup: Lookup = Arc::new(move |name| variables.variable(name));
    let mut builder = session().tools(with_web_of_session(coding_tools(cwd))).project(project.clone());
    if let Some(model) = &args.model {
        builder = builder.model(model);
    }
    let builder = builder.resolve()?;
    let policy = builder.options().policy()?;
    let (model, info) = described(&*providers(&lookup), builder.options().model().unwrap_or("default"));
    let stand_in = ScriptedModel::new(Script::new()).with_info(info);
    let session = builder.model(model).provider(stand_in).open().await.map_err(of_start)?;
    let mut usage = session.handle.context_usage().await?;
    usage.sections.extend(project.waiting_instructions(&policy).await);
    for notice in &session.notices {
        writeln!(stderr(), "windlass: {}", clean_line(notice))?;
    }
    session.handle.close().await?;
    let mut out = stdout().lock();
    if args.json {
        jsonl::write(&mut out, &usage)?
    } else {
        print(&mut out, &usage)?
    }
    Ok(0)
}

/// Returns the model that a name means, and its known limits and price, without a key.
fn described(providers: &dyn ModelProvider, name: &str) -> (String, ModelInfo) {
    let model = providers.resolve_model(name);
    // A name without a prefix is one of the first provider.
    let first = format!("anthropic/{model}");
    let is_meant = |name: &String| *name == model || *name == first;
    let known = providers.known_models().into_iter().find(|one| is_meant(&one.id) || one.aliases.iter().any(is_meant));
    match known {
        Some(known) => (known.id, known.info),
        None => (model.clone(), providers.model_info(&model)),
    }
}

fn print(out: &mut impl Write, usage: &ContextUsage) -> std::io::Result<()> {
    writeln!(out, "{:>8}  about, of {} for {}", usage.used(), usage.window, clean_line(&usage.model))?;
    for (kind, heading) in [(ContextKind::SystemPrompt, "system prompt"), (ContextKind::Tool, "tools")] {
        writeln!(out, "{:>8}  {heading}", usage.of_kind(kind))?;
    }
    let tools = usage.sections.iter().filter(|section| section.kind == ContextKind::Tool);
    let withheld: u64 = tools.map(|section| section.withheld).sum();
    if withheld > 0 {
        writeln!(out, "{withheld:>8}  tools that are loaded when they are searched for: saved, not used")?;
    }
    let files = || usage.sections.iter().filter(|section| section.kind == ContextKind::Instructions);
    for section in files().filter(|section| section.withheld == 0) {
        writeln!(out, "{:>8}  {}", section.tokens, line(section))?;
    }
    for section in files().filter(|section| section.withheld > 0) {
        let (source, name) = (&section.source, clean_line(&section.name));
        let until = clean_line(section.reason.as_deref().unwrap_or("until they are needed"));
        writeln!(out, "{:>8}  on demand, {source}: {name} (waits {until})", section.withheld)?;
    }
    Ok(())
}

fn line(section: &ContextSection) -> String {
    let cut = match (section.left_out, &section.reason) {
        (0, _) => String::new(),
        (characters, Some(reason)) => format!(" ({characters} characters are left out: {})", clean_line(reason)),
        (characters, None) => format!(" (too long: the last {characters} characters are left out)"),
    };
    format!("instructions, {}: {}{cut}", section.source, clean_line(&section.name))
}
