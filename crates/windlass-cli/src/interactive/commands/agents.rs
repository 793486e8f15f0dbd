//! `/agents`: the agents that the model can give tasks to.

use super::context::{CommandContext, lines};
use windlass_terminal::app::CommandReply;

pub(super) fn view(context: &CommandContext) -> anyhow::Result<CommandReply> {
    let args = &context.args;
    let agents = crate::launch::agents(args.model.agents.as_deref())?.or(context.project.known_agents());
    Ok(lines(&crate::agents::rows(&agents), "No agent is defined here."))
}
