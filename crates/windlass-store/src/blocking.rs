//! Reading sessions on threads of the runtime.

use windlass_blocking::run_blocking;
use windlass_session::{StoreError, StoreErrorKind};

/// Runs work that reads sessions where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let no_thread = |why| StoreError::new(StoreErrorKind::Io, format!("sessions cannot be read: {why}"));
    run_blocking(work).await.unwrap_or_else(|why| Err(no_thread(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_a_thread_is_an_error() {
        // No system has room for such a stack.
        let runtime = tokio::runtime::Builder::new_current_thread().thread_stack_size(1 << 60).build().unwrap();
        let error = runtime.block_on(blocking(|| Ok(1))).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Io);
        assert!(error.to_string().contains("no thread can be started"), "{error}");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(blocking(|| Ok(1))).unwrap(), 1);
    }
}
