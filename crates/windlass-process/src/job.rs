//! Windows job objects as data: the limits of a job for its members, and the steps that start a program in one.
//!
//! Nothing here calls the system. A [`JobPlan`] holds the requested limits, in the values of the system's interface. A
//! [`JobStart`] names one step after the other, takes the outcome of each, and reports at the end if the program runs.
//! The executor of the steps decides nothing.
//!
//! A program is created suspended and resumed only as a member of its job: processes that it starts are members too,
//! and none has run if something fails before.

use std::num::NonZeroU32;

/// `JOB_OBJECT_LIMIT_ACTIVE_PROCESS`
const LIMIT_ACTIVE_PROCESS: u32 = 0x0000_0008;
/// `JOB_OBJECT_LIMIT_JOB_MEMORY`
const LIMIT_JOB_MEMORY: u32 = 0x0000_0200;
/// `JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION`: no dialog keeps a program that has crashed.
const LIMIT_DIE_ON_UNHANDLED_EXCEPTION: u32 = 0x0000_0400;
/// `JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE`: the system ends all members with the last handle, also when the host is
/// killed.
const LIMIT_KILL_ON_JOB_CLOSE: u32 = 0x0000_2000;
/// `JOB_OBJECT_UILIMIT_…`: handles of other programs, reading and writing the clipboard, settings of the system and of
/// the display, the table of names, desktops, and the end of the session.
const UI_LIMITS: u32 = 0x0000_00ff;
/// `CREATE_SUSPENDED`
const CREATE_SUSPENDED: u32 = 0x0000_0004;
/// `CREATE_UNICODE_ENVIRONMENT`
const CREATE_UNICODE_ENVIRONMENT: u32 = 0x0000_0400;
/// `CREATE_NO_WINDOW`: a console program opens no window.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
/// `ERROR_ACCESS_DENIED`: the system's error when a process cannot become a member of a second job.
const ACCESS_DENIED: u32 = 5;

/// Limits of a program's job, for it and all processes that it starts.
///
/// Members end with the last handle of the job, and none can leave it: neither of the two limits that would permit that
/// (`JOB_OBJECT_LIMIT_BREAKAWAY_OK`, `JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK`) is available.
///
/// ```
/// use std::num::NonZeroU32;
/// use windlass_process::job::{JobPlan, JobStart, JobStep};
///
/// let plan = JobPlan::default().with_most_processes(NonZeroU32::new(512)).with_ui_limits(true);
/// let mut start = JobStart::new(plan);
/// assert_eq!(start.step(), JobStep::CreateJob);
/// start.done();
/// assert!(matches!(start.step(), JobStep::SetLimits { most_processes: 512, .. }));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobPlan {
    most_processes: Option<NonZeroU32>,
    most_memory: Option<u64>,
    has_ui_limits: bool,
}

impl JobPlan {
    /// Sets the maximum number of members at a time; more are not started. Default: no limit.
    #[must_use]
    pub fn with_most_processes(mut self, most: Option<NonZeroU32>) -> Self {
        self.most_processes = most;
        self
    }

    /// Sets the maximum number of bytes of memory that all members may have committed together. Default: no limit.
    #[must_use]
    pub fn with_most_memory(mut self, most: Option<u64>) -> Self {
        self.most_memory = most;
        self
    }

    /// Keeps members from the clipboard, the desktops and the windows of others. If this process itself is in a job,
    /// the system accepts no job with such limits; the program then starts without them, and
    /// [`JobStart::has_ui_limits`] reports that. Default: `false`.
    #[must_use]
    pub fn with_ui_limits(mut self, on: bool) -> Self {
        self.has_ui_limits = on;
        self
    }

    /// Limits as `LimitFlags` of `JOBOBJECT_BASIC_LIMIT_INFORMATION`.
    pub fn limit_flags(self) -> u32 {
        let mut flags = LIMIT_KILL_ON_JOB_CLOSE | LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        if self.most_processes.is_some() {
            flags |= LIMIT_ACTIVE_PROCESS;
        }
        if self.most_memory.is_some() {
            flags |= LIMIT_JOB_MEMORY;
        }
        flags
    }

    /// `UIRestrictionsClass` of `JOBOBJECT_BASIC_UI_RESTRICTIONS`; zero is none.
    pub fn ui_flags(self) -> u32 {
        if self.has_ui_limits { UI_LIMITS } else { 0 }
    }

    /// `dwCreationFlags` of `CreateProcessW`. They never include `CREATE_BREAKAWAY_FROM_JOB`, which asks to leave the
    /// job of this process.
    pub fn creation_flags(self) -> u32 {
        CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW
    }
}

/// One system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobStep {
    /// `CreateJobObjectW` without a name, with a handle that is not inherited.
    CreateJob,
    /// `SetInformationJobObject` with `JobObjectExtendedLimitInformation`.
    SetLimits {
        /// `LimitFlags`
        flags: u32,
        /// `ActiveProcessLimit`; used if its flag is set.
        most_processes: u32,
        /// `JobMemoryLimit`; used if its flag is set.
        most_memory: u64,
    },
    /// `SetInformationJobObject` with `JobObjectBasicUIRestrictions`.
    SetUiLimits {
        /// `UIRestrictionsClass`
        flags: u32,
    },
    /// `CreateProcessW`.
    CreateProcess {
        /// `dwCreationFlags`
        flags: u32,
    },
    /// `AssignProcessToJobObject`.
    Assign,
    /// `ResumeThread` of the first thread of the process.
    Resume,
    /// `TerminateProcess` of a process that is in no job, and has not run.
    EndProcess,
    /// `CloseHandle` of the job, which ends its members.
    CloseJob,
    /// Done: the program runs, in its job.
    Started,
    /// Done, with nothing left behind. [`JobStart::failure`] names the failed step.
    Failed,
}

/// A failed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobFailure {
    /// The step.
    pub step: JobStep,
    /// Result of `GetLastError`.
    pub code: u32,
}

/// Start of one program in a job of its own, step by step.
///
/// Carry out [`step`](Self::step) and call [`done`](Self::done) or [`failed`](Self::failed), until it is
/// [`Started`](JobStep::Started) or [`Failed`](JobStep::Failed). To give up half-way, closing the job is enough once
/// the process was assigned; before, call [`abandon`](Self::abandon) and carry out the remaining steps.
#[derive(Debug, Clone)]
pub struct JobStart {
    plan: JobPlan,
    step: JobStep,
    /// `true` while there is a suspended process in no job.
    has_process: bool,
    /// `true` while there is a job.
    has_job: bool,
    /// `true` for the second job: one without limits on windows.
    is_second: bool,
    failure: Option<JobFailure>,
}

impl JobStart {
    /// Starts a program according to a plan.
    pub fn new(plan: JobPlan) -> Self {
        Self { plan, step: JobStep::CreateJob, has_process: false, has_job: false, is_second: false, failure: None }
    }

    /// Present step.
    pub fn step(&self) -> JobStep {
        self.step
    }

    /// Marks the step as done.
    pub fn done(&mut self) {
        self.step = match self.step {
            JobStep::CreateJob => {
                self.has_job = true;
                JobStep::SetLimits {
                    flags: self.plan.limit_flags(),
                    most_processes: self.plan.most_processes.map_or(0, NonZeroU32::get),
                    most_memory: self.plan.most_memory.unwrap_or(0),
                }
            }
            JobStep::SetLimits { .. } if self.has_ui_limits() => JobStep::SetUiLimits { flags: self.plan.ui_flags() },
            JobStep::SetLimits { .. } | JobStep::SetUiLimits { .. } => self.process_or_assign(),
            JobStep::CreateProcess { .. } => {
                self.has_process = true;
                JobStep::Assign
            }
            JobStep::Assign => {
                self.has_process = false;
                JobStep::Resume
            }
            JobStep::Resume => JobStep::Started,
            JobStep::EndProcess => {
                self.has_process = false;
                self.undo()
            }
            JobStep::CloseJob => {
                self.has_job = false;
                // Without a failure the process waits for the second job.
                if self.failure.is_none() { JobStep::CreateJob } else { JobStep::Failed }
            }
            end @ (JobStep::Started | JobStep::Failed) => end,
        };
    }

    /// Marks the step as failed, with the result of `GetLastError`.
    pub fn failed(&mut self, code: u32) {
        let refused = self.step == JobStep::Assign && code == ACCESS_DENIED;
        if refused && self.has_ui_limits() {
            // Jobs with limits on windows are not nested. An empty job without them may be.
            self.is_second = true;
            self.step = JobStep::CloseJob;
            return;
        }
        self.step = match self.step {
            // A process or job that cannot be ended or closed is left to the system, which does both at the end of this
            // process.
            JobStep::EndProcess | JobStep::CloseJob => {
                self.done();
                return;
            }
            end @ (JobStep::Started | JobStep::Failed) => end,
            step => {
                self.failure = Some(JobFailure { step, code });
                self.undo()
            }
        };
    }

    /// Gives up the start: the remaining steps follow. For a started program the job is closed, which ends it.
    pub fn abandon(&mut self) {
        let step = self.step;
        if !matches!(step, JobStep::EndProcess | JobStep::Failed) {
            self.failure.get_or_insert(JobFailure { step, code: 0 });
            self.step = self.undo();
        }
    }

    /// `true` if members are kept from the windows of others. Ask at the end, because a nested job cannot have that
    /// limit.
    pub fn has_ui_limits(&self) -> bool {
        self.plan.has_ui_limits && !self.is_second
    }

    /// Failed step with which the start ends or ended.
    pub fn failure(&self) -> Option<JobFailure> {
        self.failure
    }

    /// Step after the limits: a process that waits for its second job exists already.
    fn process_or_assign(&self) -> JobStep {
        if self.has_process { JobStep::Assign } else { JobStep::CreateProcess { flags: self.plan.creation_flags() } }
    }

    fn undo(&self) -> JobStep {
        match (self.has_process, self.has_job) {
            (true, _) => JobStep::EndProcess,
            (false, true) => JobStep::CloseJob,
            (false, false) => JobStep::Failed,
        }
    }
}

#[cfg(test)]
mod tests;
