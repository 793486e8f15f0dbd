//! Built-in tools of windlass: Read, Write, Edit, MultiEdit, NotebookEdit, apply_patch, Glob, Grep, Bash, PowerShell,
//! TaskStop, TodoWrite, TaskCreate, TaskGet, TaskUpdate, TaskList. They reach files and programs through ports alone.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod bash;
mod files;
mod plan;
mod question;
pub mod search;
mod task_stop;
mod tasks;
mod todo;

pub use bash::{
    Bash, BashInput, BashOnTerminals, BashOnTerminalsInput, PowerShell, PowerShellInput, ShellSnapshot,
    unattended_environment,
};
pub use files::{
    ApplyPatch, ApplyPatchInput, CellKind, Edit, EditInput, EditMode, EditStep, Hunk, MultiEdit, MultiEditInput,
    NotebookEdit, NotebookEditInput, Patch, Read, ReadInput, ReadLedger, Write, WriteInput,
};
pub use plan::{EnterPlanMode, EnterPlanModeInput, ExitPlanMode, ExitPlanModeInput};
pub use question::{
    Answer, AskUserQuestion, AskUserQuestionInput, AskUserQuestionWithPreviews, Choice, PreviewFormat, Question,
    UnknownPreviewFormat,
};
pub use task_stop::{TaskStop, TaskStopInput};
pub use tasks::{
    NewStatus, TaskCreate, TaskCreateInput, TaskGet, TaskGetInput, TaskList, TaskListInput, TaskUpdate, TaskUpdateInput,
};
pub use todo::{Todo, TodoList, TodoPriority, TodoStatus, TodoWrite, TodoWriteInput};
