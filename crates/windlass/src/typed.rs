//! Outputs of awaited queries.

use crate::error::Error;
use serde::de::DeserializeOwned;
use windlass_types::RunResult;

/// A value of a type, with the result of the run that gave it. See [`Query::output`](crate::Query::output).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Typed<T> {
    /// Output of the model, as the type.
    pub value: T,
    /// The run that ended with it: its cost, its turns, its session.
    pub result: RunResult,
}

/// Output of an awaited [`Query`](crate::Query): a [`RunResult`] whatever its outcome, or a [`Typed`] value.
///
/// ```
/// use windlass::event::RunOutput;
/// use windlass::{Error, Query};
///
/// /// Awaits a query of either kind, and reports what it took.
/// async fn timed<O: RunOutput>(query: Query<O>) -> Result<(O, std::time::Duration), Error> {
///     let began = std::time::Instant::now();
///     Ok((query.await?, began.elapsed()))
/// }
/// ```
pub trait RunOutput: sealed::Sealed + Sized + Send + 'static {
    /// Converts the result of a run.
    #[doc(hidden)]
    fn of(result: RunResult) -> Result<Self, Error>;
}

impl RunOutput for RunResult {
    fn of(result: RunResult) -> Result<Self, Error> {
        Ok(result)
    }
}

impl<T: DeserializeOwned + Send + 'static> RunOutput for Typed<T> {
    fn of(result: RunResult) -> Result<Self, Error> {
        let result = result.success()?.into_result();
        // A success without an output comes from a run without a schema.
        let missing = || Error::UnfitOutput { problem: "the run ended without it".to_owned() };
        let unfit = |error: windlass_types::JsonError| Error::UnfitOutput { problem: error.to_string() };
        let value = result.output().map_err(unfit)?.ok_or_else(missing)?;
        Ok(Self { value, result })
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::RunResult {}
    impl<T> Sealed for super::Typed<T> {}
}
