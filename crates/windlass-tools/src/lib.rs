//! Built-in tools of windlass: Read, Write, Edit, MultiEdit, apply_patch, Glob, Grep, Bash, TaskStop, TodoWrite
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod bash;
mod files;
mod plan;
mod process;
mod question;
pub mod search;
mod task_stop;
mod todo;
mod workspace;

pub use workspace::LocalWorkspace;

pub use bash::{Bash, BashInput};
pub use files::{
    ApplyPatch, ApplyPatchInput, Edit, EditInput, EditStep, Hunk, MultiEdit, MultiEditInput, Patch, Read, ReadInput,
    ReadLedger, Write, WriteInput,
};
pub use plan::{EnterPlanMode, EnterPlanModeInput, ExitPlanMode, ExitPlanModeInput};
pub use process::{GivenEnvironment, LocalProcess, child_environment, given_environment, host_environment};
pub use question::{Answer, AskUserQuestion, AskUserQuestionInput, Choice, Question};
pub use task_stop::{TaskStop, TaskStopInput};
pub use todo::{Todo, TodoList, TodoPriority, TodoStatus, TodoWrite, TodoWriteInput};
