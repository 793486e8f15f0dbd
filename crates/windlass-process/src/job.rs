//! Job objects of Windows as data: what a job holds its members to, and in which order a program gets into one.
//!
//! Nothing here calls the system. A [`JobPlan`] says what is wanted, in the values of the system's interface; a [`JobStart`] names one
//! step after the other, takes in what came of each, and says at the end whether the program runs. What carries the steps out decides
//! nothing.
//!
//! A program is created suspended and resumed only as a member of its job: what it starts is a member too, and none of it has
//! run if something fails before.

use std::num::NonZeroU32;

/// `JOB_OBJECT_LIMIT_ACTIVE_PROCESS`
const LIMIT_ACTIVE_PROCESS: u32 = 0x0000_0008;
/// `JOB_OBJECT_LIMIT_JOB_MEMORY`
const LIMIT_JOB_MEMORY: u32 = 0x0000_0200;
/// `JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION`: no dialog keeps a program that has crashed.
const LIMIT_DIE_ON_UNHANDLED_EXCEPTION: u32 = 0x0000_0400;
/// `JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE`: the system ends all members with the last handle, also when the host is killed.
const LIMIT_KILL_ON_JOB_CLOSE: u32 = 0x0000_2000;
/// `JOB_OBJECT_UILIMIT_…`: handles of other programs, reading and writing the clipboard, settings of the system and of the display, the table of
/// names, desktops, and the end of the session.
const UI_LIMITS: u32 = 0x0000_00ff;
/// `CREATE_SUSPENDED`
const CREATE_SUSPENDED: u32 = 0x0000_0004;
/// `CREATE_UNICODE_ENVIRONMENT`
const CREATE_UNICODE_ENVIRONMENT: u32 = 0x0000_0400;
/// `CREATE_NO_WINDOW`: a program for consoles opens none.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
/// `ERROR_ACCESS_DENIED`: so the system answers when a process cannot become a member of a second job.
const ACCESS_DENIED: u32 = 5;

/// What the job of a program holds it and all it starts to.
///
/// Members end with the last handle of the job, and none can leave it: neither of the two limits that would let them
/// (`JOB_OBJECT_LIMIT_BREAKAWAY_OK`, `JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK`) can be had.
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
    /// Sets how many processes may be members at a time; more are not started. Default: no limit.
    #[must_use]
    pub fn with_most_processes(mut self, most: Option<NonZeroU32>) -> Self {
        self.most_processes = most;
        self
    }

    /// Sets how many bytes of memory all members may have committed together. Default: no limit.
    #[must_use]
    pub fn with_most_memory(mut self, most: Option<u64>) -> Self {
        self.most_memory = most;
        self
    }

    /// Whether members are kept from the clipboard, the desktops and the windows of others. Where this process itself is in a job, the
    /// system takes no job with such limits; the program then starts without them, and [`JobStart::has_ui_limits`] says so. Default: no.
    #[must_use]
    pub fn with_ui_limits(mut self, on: bool) -> Self {
        self.has_ui_limits = on;
        self
    }

    /// The limits as `LimitFlags` of `JOBOBJECT_BASIC_LIMIT_INFORMATION`.
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

    /// `dwCreationFlags` of `CreateProcessW`. It never asks to leave the job of this process (`CREATE_BREAKAWAY_FROM_JOB`).
    pub fn creation_flags(self) -> u32 {
        CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW
    }
}

/// One call of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobStep {
    /// `CreateJobObjectW` without a name, with a handle that is not inherited.
    CreateJob,
    /// `SetInformationJobObject` with `JobObjectExtendedLimitInformation`.
    SetLimits {
        /// `LimitFlags`
        flags: u32,
        /// `ActiveProcessLimit`; counts where its flag is set.
        most_processes: u32,
        /// `JobMemoryLimit`; counts where its flag is set.
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
    /// Nothing is left to do: the program runs, in its job.
    Started,
    /// Nothing is left to do and nothing is left behind. [`JobStart::failure`] says what failed.
    Failed,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobFailure {
    /// The step.
    pub step: JobStep,
    /// What `GetLastError` said.
    pub code: u32,
}

/// The start of one program in a job of its own, step after step.
///
/// Do what [`step`](Self::step) says and call [`done`](Self::done) or [`failed`](Self::failed), until it is
/// [`Started`](JobStep::Started) or [`Failed`](JobStep::Failed). Where the start is given up half-way, closing the job is enough once the
/// process was assigned; before, [`abandon`](Self::abandon) says what is left to do.
#[derive(Debug, Clone)]
pub struct JobStart {
    plan: JobPlan,
    step: JobStep,
    /// Whether there is a process that is suspended and in no job.
    has_process: bool,
    /// Whether there is a job.
    has_job: bool,
    /// Whether this is the second job: one without limits on windows.
    is_second: bool,
    failure: Option<JobFailure>,
}

impl JobStart {
    /// The start of a program as the plan has it.
    pub fn new(plan: JobPlan) -> Self {
        Self { plan, step: JobStep::CreateJob, has_process: false, has_job: false, is_second: false, failure: None }
    }

    /// What is to be done now.
    pub fn step(&self) -> JobStep {
        self.step
    }

    /// The step has been done.
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

    /// The step has failed, with what `GetLastError` said.
    pub fn failed(&mut self, code: u32) {
        let refused = self.step == JobStep::Assign && code == ACCESS_DENIED;
        if refused && self.has_ui_limits() {
            // Jobs with limits on windows are not nested. An empty job without them may be.
            self.is_second = true;
            self.step = JobStep::CloseJob;
            return;
        }
        self.step = match self.step {
            // What cannot be ended or closed is left to the system, which does both at the end of this process.
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

    /// Gives the start up: what is left to do follows. Of a program that was started the job is closed, which ends it.
    pub fn abandon(&mut self) {
        let step = self.step;
        if !matches!(step, JobStep::EndProcess | JobStep::Failed) {
            self.failure.get_or_insert(JobFailure { step, code: 0 });
            self.step = self.undo();
        }
    }

    /// Whether members are kept from the windows of others. To be asked at the end: a job inside of another cannot have that.
    pub fn has_ui_limits(&self) -> bool {
        self.plan.has_ui_limits && !self.is_second
    }

    /// What failed, with which the start ends or ended.
    pub fn failure(&self) -> Option<JobFailure> {
        self.failure
    }

    /// The step behind the limits: a process that waits for its second job is there already.
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
