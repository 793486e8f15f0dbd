//! Errors of the database.

use std::error::Error as _;
use std::io;
use tokio_postgres::error::SqlState;
use windlass_session::{StoreError, StoreErrorKind};

/// Reason why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address cannot be used.
    #[error("the address of the database cannot be used: {message}; write postgres://user@host/database")]
    #[non_exhaustive]
    Address {
        /// Reason.
        message: String,
    },
    /// TLS is needed and cannot be set up.
    #[error("{message}")]
    #[non_exhaustive]
    Tls {
        /// Reason and remedy.
        message: String,
    },
    /// The tables are missing, or older than this program.
    #[error("the tables of the database have version {found}, and this program needs {needed}: run `migrate` first")]
    #[non_exhaustive]
    Schema {
        /// Version of the tables; zero without any.
        found: i32,
        /// Version that this program needs.
        needed: i32,
    },
    /// The role may not use the tenant.
    #[error("role {role} does not belong to tenant {tenant}: add it with `migrate`, or choose another tenant")]
    #[non_exhaustive]
    Tenant {
        /// Role of the connection.
        role: String,
        /// Tenant of the configuration.
        tenant: String,
    },
    /// The database refused, or cannot be reached.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the error of a statement.
pub(crate) fn of_statement(error: &tokio_postgres::Error) -> StoreError {
    if is_unavailable(error) {
        return StoreError::unavailable("the database", reason(error));
    }
    let kind = match error.code() {
        Some(&SqlState::DISK_FULL) => StoreErrorKind::Full,
        _ => StoreErrorKind::Io,
    };
    StoreError::new(kind, format!("the database refused a statement of the session store: {}", reason(error)))
}

/// Returns the error of a connection that the pool does not give.
pub(crate) fn of_pool(error: &deadpool_postgres::PoolError) -> StoreError {
    match error {
        deadpool_postgres::PoolError::Backend(error) if !is_unavailable(error) => of_statement(error),
        deadpool_postgres::PoolError::Backend(error) => StoreError::unavailable("the database", reason(error)),
        error => StoreError::unavailable("the database", error),
    }
}

/// Returns the error of a row with other columns.
pub(crate) fn odd(error: impl std::error::Error) -> StoreError {
    StoreError::new(StoreErrorKind::Io, format!("the tables of the database have another form: {error}"))
}

fn reason(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(refusal), _) => format!("{} ({})", refusal.message(), refusal.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

/// `true` if the same statement may succeed later: the connection broke, or the server ends, begins, or is full.
fn is_unavailable(error: &tokio_postgres::Error) -> bool {
    if error.is_closed() || error.source().is_some_and(|source| source.is::<io::Error>()) {
        return true;
    }
    error.code().is_some_and(|code| {
        let code = code.code();
        // Connections (08), shutdown and start (57P), resources but the disk (53), conflicts of transactions (40), and a
        // standby that is not the primary yet (25006).
        code.starts_with("08")
            || code.starts_with("57P")
            || (code.starts_with("53") && code != SqlState::DISK_FULL.code())
            || code.starts_with("40")
            || code == "25006"
    })
}
