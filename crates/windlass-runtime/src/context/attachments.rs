//! Attaches the mentioned files, agents and resources to a prompt.

use crate::calls::layer::LayeredCall;
use crate::calls::layers::RunLayers;
use crate::calls::layers::foreign_text::ForeignTextLayer;
use crate::calls::layers::result_budget::{ResultBudget, ResultBudgetLayer};
use crate::calls::permit::permit;
use crate::calls::preparation::{Claims, PreparationContext, ReadCall, facts, prepare};
use crate::calls::run::RunningCall;
use crate::context::file_changes::{self, Changes};
use crate::hooks::{HookReports, ask};
use crate::ports::instructions::{NestedInstructions, UsedPath, instructions_of};
use crate::ports::mentions::Mentions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use windlass_context::{FileInstructions, Mention, MentionedLines, estimate_blocks, is_secret, mentioned, mentions};
use windlass_hook::{HookContext, Hooks};
use windlass_permission::{CallFacts, Policy};
use windlass_tool::{EntryKind, Ids, SeenFiles, ToolCx, ToolCxParts};
use windlass_types::hook::event::PreToolUse;
use windlass_types::path::absolute;
use windlass_types::text::{clause, visible_path};
use windlass_types::{Access, Behavior, ContentBlock, HookOutcome, JsonText, ToolResultContent, ToolUse, ToolUseId};

/// Time limit for one mention.
const MENTION_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of tokens of all attachments of a prompt, estimated. Later mentions are left out.
const MAX_TOKENS: u64 = 60_000;
/// Maximum number of names of a directory.
const MAX_DIRECTORY_NAMES: usize = 1_000;
/// Maximum length of a resource, in characters.
const MAX_RESOURCE_CHARS: usize = 60_000;
/// Tool name for the reading of a resource, as rules and hooks see it.
const RESOURCE_READER: &str = "ReadMcpResourceTool";

/// Attachments of a prompt.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    pub(crate) blocks: Vec<ContentBlock>,
    /// Changed files among the attachments.
    pub(crate) changes: Changes,
    /// Instructions for the attached files.
    pub(crate) instructions: Vec<FileInstructions>,
    /// Notices for the host about attachments that were left out.
    pub(crate) notices: Vec<String>,
}

/// Context for looking up the mentions of a prompt.
pub(crate) struct AttachmentContext {
    pub(crate) mentions: Option<Mentions>,
    /// Files that the model has read, if changes of them are reported to the model.
    pub(crate) seen: Option<Arc<SeenFiles>>,
    pub(crate) at: PreparationContext,
    pub(crate) policy: Arc<Policy>,
    pub(crate) hooks: Hooks,
    pub(crate) hook_context: HookContext,
    pub(crate) reports: HookReports,
    pub(crate) instructions: Option<Arc<dyn NestedInstructions>>,
    /// Makes the context of a call of the reader, from its id and its permit.
    pub(crate) cx: ReadingCx,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) cwd: PathBuf,
    /// Bytes that all files of the prompt share.
    pub(crate) budget: ResultBudget,
}

/// Makes the context of a call that only reads.
pub(crate) type ReadingCx = Box<dyn Fn(ToolUseId, windlass_tool::Permit) -> ToolCxParts + Send + Sync>;

/// Target of a mention.
enum Target {
    File(PathBuf, Option<MentionedLines>),
    Directory(PathBuf),
    Resource(String, String),
    Agent(String),
}

/// Reason why something is not attached, for the model.
struct Omission(String);

impl AttachmentContext {
    /// Finds the files that have changed, and the targets of a prompt's mentions. Mentions without a target are
    /// skipped.
    pub(crate) async fn look_up(&self, prompt: &str) -> Attachments {
        let mut attached = Attachments::default();
        if let Some(seen) = &self.seen {
            attached.changes = file_changes::of(seen, &*self.at.workspace, &self.policy).await;
            attached.blocks.append(&mut attached.changes.blocks);
        }
        if let Some(known) = &self.mentions {
            self.look_up_mentions(known, prompt, &mut attached).await;
        }
        attached
    }

    async fn look_up_mentions(&self, known: &Mentions, prompt: &str, attached: &mut Attachments) {
        let mut paths = Vec::new();
        for mention in mentions(prompt) {
            let Some(target) = self.target(known, &mention).await else { continue };
            let path = match &target {
                Target::File(path, _) => Some(UsedPath::new(path, false)),
                _ => None,
            };
            let found = if estimate_blocks(&attached.blocks) >= MAX_TOKENS {
                Err(Omission("what the prompt mentions before it is long already; read it if you need it".to_owned()))
            } else {
                let found = tokio::time::timeout(MENTION_TIMEOUT, self.found(known, &mention, target)).await;
                found.unwrap_or_else(|_| {
                    Err(Omission(format!("it took longer than {} seconds", MENTION_TIMEOUT.as_secs())))
                })
            };
            match found {
                Ok(blocks) => {
                    attached.blocks.extend(blocks);
                    paths.extend(path);
                }
                Err(Omission(why)) => {
                    let why = format!("it is not attached: {}", clause(&why));
                    attached.notices.push(format!("@{}: {why}.", mention.name));
                    attached.blocks.push(ContentBlock::text(mentioned(&mention.name, &why, None)));
                }
            }
        }
        if let Some(source) = &self.instructions {
            attached.instructions = instructions_of(&**source, &paths).await;
        }
    }

    /// Returns the target of a mention, if it has one.
    async fn target(&self, known: &Mentions, mention: &Mention) -> Option<Target> {
        if let Some(others) = &known.others {
            if let Some(agent) = mention.agent().filter(|agent| others.agents().iter().any(|known| known == agent)) {
                return Some(Target::Agent(agent.to_owned()));
            }
            let resource =
                mention.resource().filter(|(server, _)| others.servers().iter().any(|known| known == server));
            if let Some((server, uri)) = resource {
                return Some(Target::Resource(server.to_owned(), uri.to_owned()));
            }
        }
        // Files are out of reach without the tool that reads them.
        self.at.tools.get(&known.reader)?;
        if let Some(target) = self.entry(&mention.name, None).await {
            return Some(target);
        }
        let lines = mention.lines.as_ref()?;
        self.entry(&lines.path, Some(lines)).await
    }

    /// Returns the target at a path, if it can be attached.
    async fn entry(&self, name: &str, lines: Option<&MentionedLines>) -> Option<Target> {
        let path = match (name.strip_prefix("~/"), self.policy.home()) {
            (Some(below), Some(home)) => home.join(below),
            _ => absolute(&self.cwd, Path::new(name)),
        };
        match self.at.workspace.resolve(&path).await.ok()?.kind {
            EntryKind::File => Some(Target::File(path, lines.cloned())),
            EntryKind::Directory if lines.is_none() => Some(Target::Directory(path)),
            _ => None,
        }
    }

    async fn found(&self, known: &Mentions, mention: &Mention, target: Target) -> Result<Vec<ContentBlock>, Omission> {
        match target {
            Target::File(path, lines) => self.file(&known.reader, mention, &path, lines.as_ref()).await,
            Target::Directory(path) => self.directory(&known.reader, mention, &path).await,
            Target::Resource(server, uri) => self.resource(known, mention, &server, &uri).await,
            Target::Agent(agent) => {
                let description =
                    format!("the user wants the agent {agent:?} to do this. Give it the task with what it needs");
                Ok(vec![ContentBlock::text(mentioned(&mention.name, &description, None))])
            }
        }
    }

    /// Attaches a file, as a call of the reader shows it.
    async fn file(
        &self,
        reader: &str,
        mention: &Mention,
        path: &Path,
        lines: Option<&MentionedLines>,
    ) -> Result<Vec<ContentBlock>, Omission> {
        let mut input = serde_json::json!({ "file_path": visible_path(path) });
        if let (Some(lines), Some(input)) = (lines, input.as_object_mut()) {
            let count = lines.last.saturating_sub(lines.first).saturating_add(1);
            input.insert("offset".to_owned(), lines.first.into());
            input.insert("limit".to_owned(), count.into());
        }
        let call = self.call(reader, &input)?;
        let ready = prepare(&self.at, &call, &self.cwd).await.map_err(|unprepared| Omission(unprepared.text))?;
        self.judge(&call, &ready.prepared.facts).await?;
        let ReadCall { call: prepared, tool } = ready.call;
        let permit = permit(&ready.prepared.facts, Arc::clone(&self.policy));
        let parts = (self.cx)(call.id.clone(), permit);
        let layered = LayeredCall { id: call.id, cancel: parts.cancel.clone() };
        let foreign_text = ForeignTextLayer { ids: Arc::clone(&self.ids) };
        let result_budget = ResultBudgetLayer {
            budget: self.budget.clone(),
            artifacts: parts.place.artifacts.clone(),
            ids: Arc::clone(&self.ids),
        };
        let layers = RunLayers::of_reader(foreign_text, result_budget).around(layered);
        let outcome = layers.run(RunningCall { tool, call: prepared, cx: ToolCx::new(parts) }).await;
        if outcome.is_error {
            return Err(Omission(outcome.content.text()));
        }
        let range = lines.map(|lines| format!("lines {} to {} of ", lines.first, lines.last)).unwrap_or_default();
        let description = format!("{range}\"{}\", as {} shows it", visible_path(path), reader);
        Ok(shown(mention, &description, outcome.content))
    }

    /// Attaches the names in a directory.
    async fn directory(&self, reader: &str, mention: &Mention, path: &Path) -> Result<Vec<ContentBlock>, Omission> {
        let call = self.call(reader, &serde_json::json!({ "file_path": visible_path(path) }))?;
        let facts = facts(&self.at, &call, &self.cwd, Claims::of(Access::reads(path))).await;
        self.judge(&call, &facts).await?;
        let resolved = facts.paths.first().map(|fact| fact.resolved.clone()).unwrap_or_default();
        let entries = self.at.workspace.entries(&resolved, MAX_DIRECTORY_NAMES.saturating_add(1)).await;
        let entries = entries.map_err(|error| Omission(error.to_string()))?;
        let is_whole = entries.len() <= MAX_DIRECTORY_NAMES;
        let readable = entries.iter().take(MAX_DIRECTORY_NAMES).filter(|entry| {
            let path = resolved.join(&entry.name);
            self.policy.may_read(&path, &path)
        });
        let mut names: Vec<String> = readable
            .map(|entry| {
                let end = if entry.kind == EntryKind::Directory { "/" } else { "" };
                format!("{}{end}", visible_path(&entry.name))
            })
            .collect();
        names.sort();
        let more = if is_whole { "" } else { ", of which there are more" };
        let description = format!("{} names in the directory \"{}\"{more}", names.len(), visible_path(path));
        Ok(vec![ContentBlock::text(mentioned(&mention.name, &description, Some(&names.join("\n"))))])
    }

    /// Attaches a resource of a server.
    async fn resource(
        &self,
        known: &Mentions,
        mention: &Mention,
        server: &str,
        uri: &str,
    ) -> Result<Vec<ContentBlock>, Omission> {
        let Some(others) = &known.others else { return Ok(Vec::new()) };
        let of_server = format!("{}{}__x", windlass_types::mcp_name::PREFIX, windlass_types::mcp_name::server(server));
        if self.policy.is_hidden(&of_server) {
            return Err(Omission(format!("a rule denies the server {server:?}")));
        }
        let call = self.call(RESOURCE_READER, &serde_json::json!({ "server": server, "uri": uri }))?;
        let facts = facts(&self.at, &call, &self.cwd, Claims::of(Access::NOTHING)).await;
        self.judge(&call, &facts).await?;
        let text = others.resource(server, uri).await.map_err(Omission)?;
        let cut = text.char_indices().nth(MAX_RESOURCE_CHARS).and_then(|(end, _)| text.get(..end));
        let prefix = if cut.is_some() { "the beginning of " } else { "" };
        let description = format!("{prefix}the resource of the MCP server {server:?}, in its own words");
        Ok(vec![ContentBlock::text(mentioned(&mention.name, &description, Some(cut.unwrap_or(&text))))])
    }

    fn call(&self, tool: &str, input: &serde_json::Value) -> Result<ToolUse, Omission> {
        let input = JsonText::of(input).map_err(|error| Omission(error.to_string()))?;
        Ok(ToolUse::new(ToolUseId::new(format!("mention_{:032x}", self.ids.bits())), tool, input))
    }

    /// Judges whether a call may run as it is: PreToolUse hooks and rules decide as for a call of the model. No one is
    /// asked; the model can call the tool itself, which asks.
    async fn judge(&self, call: &ToolUse, facts: &CallFacts) -> Result<(), Omission> {
        let outcome: HookOutcome = ask(
            &self.hooks,
            &self.hook_context,
            &PreToolUse { tool_name: call.name.clone(), tool_input: call.input.clone(), tool_use_id: call.id.clone() }
                .into(),
            &self.reports,
        )
        .await;
        if outcome.stop.is_some() || outcome.updated_input.is_some_and(|input| input != call.input) {
            return Err(Omission("a hook changes how it is read; read it if you need it".to_owned()));
        }
        if facts.paths.iter().any(|fact| is_secret(&fact.requested) || is_secret(&fact.resolved)) {
            return Err(Omission("it may hold secrets; read it if the user wants you to".to_owned()));
        }
        let decision = self.policy.decide(facts, outcome.verdict.as_ref(), None);
        match decision.behavior {
            Behavior::Allow => Ok(()),
            Behavior::Ask => {
                Err(Omission(format!("{} Read it if you need it, which may ask the user", decision.message)))
            }
            Behavior::Deny => Err(Omission(decision.message)),
        }
    }
}

/// Formats a result of the reader: its texts in a frame, images and documents behind the sentence that names them.
fn shown(mention: &Mention, description: &str, content: ToolResultContent) -> Vec<ContentBlock> {
    let blocks = match content {
        ToolResultContent::Text(text) => vec![ContentBlock::text(text)],
        ToolResultContent::Blocks(blocks) => blocks,
    };
    let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
    let text = Some(texts.join("\n")).filter(|_| !texts.is_empty());
    let mut attached = vec![ContentBlock::text(mentioned(&mention.name, description, text.as_deref()))];
    attached.extend(blocks.into_iter().filter(|block| block.as_text().is_none()));
    attached
}
