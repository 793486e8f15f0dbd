//! Built-in tools of windlass: Read, Write, Edit, MultiEdit, NotebookEdit, apply_patch, Glob, Grep, Bash, PowerShell,
//! TaskStop, TodoWrite, TaskCreate, TaskGet, TaskUpdate, TaskList
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod bash;
mod files;
mod plan;
mod process;
mod question;
pub mod search;
mod task_stop;
mod tasks;
mod todo;
mod tree;
mod workspace;

pub use workspace::{LocalWorkspace, TemporaryFiles, WithLocalFolders};

pub use bash::{
    Bash, BashInput, BashOnTerminals, BashOnTerminalsInput, PowerShell, PowerShellInput, ShellSnapshot, find_bash,
    unattended_environment,
};
pub use files::{
    ApplyPatch, ApplyPatchInput, CellKind, Edit, EditInput, EditMode, EditStep, Hunk, MultiEdit, MultiEditInput,
    NotebookEdit, NotebookEditInput, Patch, Read, ReadInput, ReadLedger, Write, WriteInput,
};
pub use plan::{EnterPlanMode, EnterPlanModeInput, ExitPlanMode, ExitPlanModeInput};
pub use process::{
    GivenEnvironment, KeptLimits, KeptOutput, KeptSpace, LocalProcess, child_environment, given_environment,
    host_environment, utf8_environment,
};
pub use question::{
    Answer, AskUserQuestion, AskUserQuestionInput, AskUserQuestionWithPreviews, Choice, PreviewFormat, Question,
    UnknownPreviewFormat,
};
pub use task_stop::{TaskStop, TaskStopInput};
pub use tasks::{
    NewStatus, TaskCreate, TaskCreateInput, TaskGet, TaskGetInput, TaskList, TaskListInput, TaskUpdate, TaskUpdateInput,
};
pub use todo::{Todo, TodoList, TodoPriority, TodoStatus, TodoWrite, TodoWriteInput};
