//! A host's flags as the arguments that `-p` has, and the flags that only hosts have.

use super::flags::Flags;
use crate::args::{OutputFormat, RunArgs};
use crate::failure::Usage;
use crate::files;
use std::path::{Path, PathBuf};
use windlass::options::{HostOptions, ModelOptions, RequestOptions};
use windlass::{PermissionMode, SessionBuilder, Thinking};

impl Flags {
    /// Returns the arguments that are read when the process starts: an error in them ends the process.
    pub(super) fn first_args(&self) -> anyhow::Result<RunArgs> {
        let mut args = RunArgs::none()?;
        args.output.output_format = OutputFormat::StreamJson;
        args.output.include_partial_messages = self.has("include-partial-messages");
        args.output.include_hook_events = self.has("include-hook-events");
        args.settings.settings = self.text("settings").map(str::to_owned);
        args.settings.managed_settings = self.text("managed-settings").map(str::to_owned);
        args.settings.setting_sources = self.value("setting-sources").map(str::to_owned);
        args.settings.trust = self.has("trust");
        // In the order in which they were named: the first of two plugins with one name is used.
        args.plugins.named = self.plugins();
        args.mcp.mcp_config = self.all("mcp-config");
        args.mcp.strict_mcp_config = self.has("strict-mcp-config");
        args.offered.programs = self.has("programs");
        args.offered.tools = self.value("tools").map(str::to_owned);
        args.model.agent = self.text("agent").map(str::to_owned);
        args.model.agents = self.text("agents").map(str::to_owned);
        args.asks.dangerously_skip_permissions = self.has("dangerously-skip-permissions");
        args.asks.allow_dangerously_skip_permissions = self.has("allow-dangerously-skip-permissions");
        args.asks.wait_for_answers = self.has("wait-for-answers");
        let mode = self.text("permission-mode").map(str::parse::<PermissionMode>);
        args.permissions.permission_mode = mode.transpose().map_err(Usage)?;
        args.permissions.allowed_tools = self.all("allowedTools");
        args.permissions.disallowed_tools = self.all("disallowedTools");
        args.permissions.add_dir = self.all("add-dir").into_iter().map(PathBuf::from).collect();
        args.session.cassette.replay = self.text("replay").map(PathBuf::from);
        Ok(args)
    }

    /// Returns all arguments of a session: an error in them is the answer to the host that opens one.
    pub(super) fn run_args(&self) -> anyhow::Result<RunArgs> {
        let mut args = self.first_args()?;
        args.model.model = self.text("model").map(str::to_owned);
        args.model.fallback_model = self.text("fallback-model").map(str::to_owned);
        args.model.max_turns = self.number("max-turns")?.filter(|turns| *turns > 0);
        args.model.max_budget_usd = self.number("max-budget-usd")?;
        let effort = self.text("effort").map(str::parse).transpose();
        args.model.effort = effort.map_err(|error| Usage(format!("--effort: {error}")))?;
        let schema = self.text("json-schema").map(crate::schema::read).transpose();
        args.output.json_schema =
            schema.map_err(|problem| Usage(format!("--json-schema cannot be used: {problem}")))?;
        let file = self.text("system-prompt-file").map(prompt_of).transpose()?;
        args.model.system_prompt = file.or_else(|| self.value("system-prompt").map(str::to_owned));
        args.model.append_system_prompt = self.text("append-system-prompt").map(str::to_owned);
        Ok(args)
    }

    /// Applies the flags that `-p` does not have.
    pub(super) fn more(&self, mut builder: SessionBuilder) -> Result<SessionBuilder, Usage> {
        let betas = self.values("betas");
        for beta in betas.iter().flat_map(|betas| betas.split(',')).filter(|beta| !beta.is_empty()) {
            builder = builder.model(ModelOptions::new().requests(RequestOptions::new().beta(beta.trim())));
        }
        let thinking = match (self.text("thinking"), self.number::<u32>("max-thinking-tokens")?) {
            (Some("adaptive"), _) => Some(Thinking::Adaptive),
            (Some("disabled"), _) | (_, Some(0)) => Some(Thinking::Off),
            (_, Some(tokens)) => Some(Thinking::Budget(tokens)),
            (_, None) => None,
        };
        // A host that answers questions gets previews of edits.
        builder =
            builder.host(HostOptions::new().preview_edits(
                self.has("include-edit-events") || self.value("permission-prompt-tool") == Some("stdio"),
            ));
        Ok(match thinking {
            Some(thinking) => builder.model(ModelOptions::new().thinking(thinking)),
            None => builder,
        })
    }

    fn all(&self, name: &str) -> Vec<String> {
        self.values(name).into_iter().map(str::to_owned).collect()
    }
}

fn prompt_of(path: &str) -> Result<String, Usage> {
    files::text(Path::new(path)).map_err(|error| Usage(format!("--system-prompt-file {path}: {error}")))
}
