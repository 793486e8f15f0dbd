//! `/agents`: the agents that the model can give tasks to.

use super::{ProgramCommands, lines};
use windlass_terminal::app::CommandReply;

pub(super) fn view(commands: &ProgramCommands) -> anyhow::Result<CommandReply> {
    let args = commands.opening.args();
    let agents = crate::launch::agents(args.model.agents.as_deref())?.or(commands.opening.project().known_agents());
    Ok(lines(&crate::agents::rows(&agents), "No agent is defined here."))
}
