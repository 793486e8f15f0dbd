use super::*;

fn fail(kind: ModelErrorKind) -> ModelFailure {
    ModelFailure::new(kind, "x")
}

fn limits() -> Limits {
    Limits::default()
}

fn asking(seconds: u64) -> ModelFailure {
    let mut asking = fail(ModelErrorKind::RateLimited);
    asking.retry_after = Some(Duration::from_secs(seconds));
    asking
}

#[test]
fn waits_double_up_to_a_limit_and_stay_within_jitter() {
    let mut retry = Retry::default();
    let mut last = Duration::ZERO;
    for attempt in 1..=10 {
        let mut failure = fail(ModelErrorKind::Server);
        failure.jitter = u32::MAX / 2;
        let Next::Wait(wait) = retry.after(&failure, &limits(), false) else { panic!("attempt {attempt}") };
        assert!(wait >= last && wait <= Duration::from_secs(40));
        last = wait;
    }
    assert_eq!(retry.after(&fail(ModelErrorKind::Server), &limits(), false), Next::GiveUp);
}

#[test]
fn the_server_is_obeyed_within_reason() {
    assert_eq!(Retry::default().after(&asking(7), &limits(), false), Next::Wait(Duration::from_secs(7)));
    let hour = Duration::from_secs(3_600);
    assert_eq!(Retry::default().after(&asking(3_600), &limits(), false), Next::OutOfPatience(hour));
    assert_eq!(Retry::default().after(&asking(3_600), &limits(), true), Next::Fallback);
    assert!(out_of_patience(&asking(3_600), hour).contains("asks to wait 3600 s"));
}

/// All waits of a request together: the server's influence on them has a limit.
#[test]
fn waits_for_the_server_are_bounded_together() {
    let (mut retry, mut waited) = (Retry::default(), Duration::ZERO);
    let asked = asking(240);
    let last = loop {
        match retry.after(&asked, &limits(), false) {
            Next::Wait(wait) => waited += wait,
            last => break last,
        }
    };
    assert_eq!(last, Next::OutOfPatience(Duration::from_secs(240)));
    assert_eq!(waited, Duration::from_secs(3 * 240));
    assert!(retry.attempts < limits().max_retries);
    let patient = Limits { max_server_wait: Duration::from_secs(3_600), ..limits() };
    let mut retry = Retry::default();
    let repeats = (0..20).filter(|_| matches!(retry.after(&asked, &patient, false), Next::Wait(_))).count();
    assert_eq!(repeats, 10);
}

#[test]
fn a_server_that_asks_for_no_wait_gets_the_waits_of_all_others() {
    for asked in [Some(Duration::ZERO), Some(Duration::from_millis(1)), None] {
        let (mut retry, mut total) = (Retry::default(), Duration::ZERO);
        let mut failure = fail(ModelErrorKind::RateLimited);
        failure.retry_after = asked;
        for _ in 0..10 {
            let Next::Wait(wait) = retry.after(&failure, &limits(), false) else { panic!("gave up") };
            total += wait;
        }
        assert!(total > Duration::from_secs(100), "{asked:?}: {total:?}");
    }
}

#[test]
fn whether_the_server_wants_a_repeat_counts_before_the_kind() {
    let next = |kind, should_retry, has_fallback| {
        let mut failure = fail(kind);
        failure.should_retry = should_retry;
        Retry::default().after(&failure, &limits(), has_fallback)
    };
    use ModelErrorKind as Kind;
    assert_eq!(next(Kind::Server, Some(false), false), Next::GiveUp);
    assert_eq!(next(Kind::Overloaded, Some(false), true), Next::Fallback);
    assert_eq!(next(Kind::InvalidRequest, Some(false), true), Next::GiveUp);
    assert!(matches!(next(Kind::InvalidRequest, Some(true), false), Next::Wait(_)));
    assert!(matches!(next(Kind::RateLimited, Some(true), false), Next::Wait(_)));
    assert_eq!(next(Kind::PromptTooLong, Some(true), false), Next::TooLong);
    // The number of repeats is limited all the same.
    let mut failure = fail(Kind::InvalidRequest);
    failure.should_retry = Some(true);
    let mut retry = Retry::default();
    let repeats = (0..50).filter(|_| matches!(retry.after(&failure, &limits(), false), Next::Wait(_))).count();
    assert_eq!(repeats, 10);
}

#[test]
fn three_overloaded_answers_in_a_row_bring_the_fallback() {
    let mut retry = Retry::default();
    let overloaded = fail(ModelErrorKind::Overloaded);
    assert!(matches!(retry.after(&overloaded, &limits(), true), Next::Wait(_)));
    assert!(matches!(retry.after(&fail(ModelErrorKind::Cut), &limits(), true), Next::Wait(_)));
    assert!(matches!(retry.after(&overloaded, &limits(), true), Next::Wait(_)));
    assert!(matches!(retry.after(&overloaded, &limits(), true), Next::Wait(_)));
    assert_eq!(retry.after(&overloaded, &limits(), true), Next::Fallback);
    assert_eq!(Retry::default().after(&fail(ModelErrorKind::Authentication), &limits(), true), Next::GiveUp);
    assert_eq!(Retry::default().after(&fail(ModelErrorKind::PromptTooLong), &limits(), true), Next::TooLong);
}
