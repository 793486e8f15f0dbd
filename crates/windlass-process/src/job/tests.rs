use super::*;

/// Simulated state of the system after some steps, and its answers.
#[derive(Debug, Default)]
struct Fake {
    jobs: usize,
    flags: u32,
    ui: u32,
    /// State of the process: `true` if in a job, `true` if it runs.
    process: Option<(bool, bool)>,
    steps: Vec<JobStep>,
    has_run: bool,
}

impl Fake {
    fn take(&mut self, step: JobStep) {
        self.steps.push(step);
        match step {
            JobStep::CreateJob => {
                assert_eq!(self.jobs, 0, "one job at a time");
                (self.jobs, self.flags, self.ui) = (1, 0, 0);
            }
            JobStep::SetLimits { flags, .. } => self.flags = flags,
            JobStep::SetUiLimits { flags } => self.ui = flags,
            JobStep::CreateProcess { flags } => {
                assert_eq!(self.process, None);
                assert_ne!(flags & CREATE_SUSPENDED, 0, "it runs nothing before it is a member");
                assert_eq!(flags & 0x0100_0000, 0, "it does not leave the job of this process");
                self.process = Some((false, false));
            }
            JobStep::Assign => {
                assert_eq!((self.jobs, self.process), (1, Some((false, false))));
                assert_ne!(self.flags & LIMIT_KILL_ON_JOB_CLOSE, 0);
                self.process = Some((true, false));
            }
            JobStep::Resume => {
                assert_eq!(self.process, Some((true, false)), "only a member runs");
                self.process = Some((true, true));
                self.has_run = true;
            }
            JobStep::EndProcess => assert_eq!(self.process.take(), Some((false, false))),
            JobStep::CloseJob => {
                assert_eq!(self.jobs, 1);
                self.jobs = 0;
                self.process = self.process.filter(|(is_member, _)| !is_member);
            }
            JobStep::Started | JobStep::Failed => unreachable!("nothing is to be done"),
        }
    }
}

/// Starts a program; `fails` returns the error code of the n-th step, if it fails.
fn run(plan: JobPlan, fails: impl Fn(usize, JobStep) -> Option<u32>) -> (JobStart, Fake) {
    let (mut start, mut fake) = (JobStart::new(plan), Fake::default());
    for number in 0..40 {
        let step = start.step();
        if matches!(step, JobStep::Started | JobStep::Failed) {
            return (start, fake);
        }
        match fails(number, step) {
            Some(code) => {
                fake.steps.push(step);
                start.failed(code);
            }
            None => {
                fake.take(step);
                start.done();
            }
        }
    }
    panic!("it does not end: {:?}", fake.steps);
}

fn full() -> JobPlan {
    JobPlan::default().with_most_processes(NonZeroU32::new(64)).with_most_memory(Some(1 << 30)).with_ui_limits(true)
}

#[test]
fn a_program_runs_only_as_a_member_of_a_job_that_ends_it() {
    let (start, fake) = run(full(), |_, _| None);
    assert_eq!(start.step(), JobStep::Started);
    assert_eq!((start.has_ui_limits(), start.failure()), (true, None));
    assert_eq!(
        fake.steps,
        [
            JobStep::CreateJob,
            JobStep::SetLimits { flags: 0x2608, most_processes: 64, most_memory: 1 << 30 },
            JobStep::SetUiLimits { flags: 0xff },
            JobStep::CreateProcess { flags: 0x0800_0404 },
            JobStep::Assign,
            JobStep::Resume,
        ]
    );
    let (start, fake) = run(JobPlan::default(), |_, _| None);
    assert_eq!((start.step(), fake.steps.len()), (JobStep::Started, 5));
    assert_eq!(fake.steps[1], JobStep::SetLimits { flags: 0x2400, most_processes: 0, most_memory: 0 });
}

#[test]
fn no_plan_lets_members_leave() {
    for plan in [JobPlan::default(), full(), JobPlan::default().with_ui_limits(true)] {
        let breakaway = 0x0800 | 0x1000;
        assert_eq!(plan.limit_flags() & breakaway, 0, "{plan:?}");
        assert_ne!(plan.limit_flags() & LIMIT_KILL_ON_JOB_CLOSE, 0, "{plan:?}");
    }
}

#[test]
fn a_failure_at_any_step_leaves_nothing_that_has_run() {
    for plan in [JobPlan::default(), full()] {
        for at in 0..6 {
            for code in [1, ACCESS_DENIED, 8] {
                let (start, fake) = run(plan, |number, _| (number == at).then_some(code));
                let is_nested = plan == full() && at == 4 && code == ACCESS_DENIED;
                let expected =
                    if at == 5 && plan == JobPlan::default() || is_nested { JobStep::Started } else { JobStep::Failed };
                assert_eq!(start.step(), expected, "{plan:?} {at} {code}");
                if expected == JobStep::Failed {
                    assert_eq!((fake.jobs, fake.process, fake.has_run), (0, None, false), "{:?}", fake.steps);
                    let failure = start.failure().unwrap();
                    assert_eq!((Some(&failure.step), failure.code), (fake.steps.get(at), code));
                } else {
                    assert_eq!((fake.jobs, fake.process, start.failure()), (1, Some((true, true)), None));
                }
            }
        }
    }
}

#[test]
fn inside_of_another_job_limits_on_windows_are_given_up_and_nothing_else() {
    let nested = |_: usize, step| (step == JobStep::Assign).then_some(ACCESS_DENIED);
    // The system accepts the second job, which has no such limits.
    let (start, fake) = run(full(), |number, step| nested(number, step).filter(|_| number == 4));
    assert_eq!((start.step(), start.has_ui_limits(), fake.ui), (JobStep::Started, false, 0));
    assert_eq!(fake.flags, full().limit_flags());
    let processes = fake.steps.iter().filter(|step| matches!(step, JobStep::CreateProcess { .. })).count();
    assert_eq!(processes, 1, "the process waits");
    // A system that nests no jobs at all refuses the second one, too.
    for plan in [full(), JobPlan::default()] {
        let (start, fake) = run(plan, nested);
        assert_eq!(start.failure(), Some(JobFailure { step: JobStep::Assign, code: ACCESS_DENIED }));
        assert_eq!((start.step(), fake.jobs, fake.process, fake.has_run), (JobStep::Failed, 0, None, false));
    }
}

#[test]
fn a_second_job_that_cannot_be_made_ends_the_process_that_waits_for_it() {
    for at in 6..9 {
        let (start, fake) = run(full(), |number, step| match number {
            4 => Some(ACCESS_DENIED),
            number if number == at => Some(8).filter(|_| step != JobStep::Started),
            _ => None,
        });
        assert_eq!(start.step(), JobStep::Failed, "{at} {:?}", fake.steps);
        assert_eq!((fake.jobs, fake.process, fake.has_run), (0, None, false), "{at} {:?}", fake.steps);
    }
}

#[test]
fn a_start_that_is_given_up_leaves_nothing() {
    for is_nested in [false, true] {
        for at in 0..10 {
            let (mut start, mut fake) = (JobStart::new(full()), Fake::default());
            let mut refusals = usize::from(is_nested);
            for _ in 0..at {
                let step = start.step();
                if step == JobStep::Started {
                    break;
                }
                if step == JobStep::Assign && refusals > 0 {
                    refusals -= 1;
                    start.failed(ACCESS_DENIED);
                    continue;
                }
                fake.take(step);
                start.done();
            }
            start.abandon();
            while start.step() != JobStep::Failed {
                fake.take(start.step());
                start.done();
            }
            assert_eq!((fake.jobs, fake.process), (0, None), "{is_nested} {at} {:?}", fake.steps);
            assert!(start.failure().is_some());
        }
    }
}
