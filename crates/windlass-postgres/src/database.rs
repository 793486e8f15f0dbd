//! Connections to the database.

use crate::config::PgConfig;
use crate::error::{ConnectError, odd, of_pool, of_statement};
use crate::{migration, tls};
use deadpool_postgres::{Hook, HookError, Object, Pool, Runtime};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use windlass_session::StoreError;

/// Time for which a statement waits for a free connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Number of times that a statement that changes nothing is sent.
const TRIES: u32 = 4;

/// Wait before a statement is repeated.
const REPEAT: Duration = Duration::from_millis(150);

/// Version of the logs that this program writes and understands: a session that needs a newer one is left to newer programs.
const LOG_VERSION: &str = "1";

/// Arguments of a statement.
pub(crate) type Arguments<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Connections of one role for one tenant.
pub(crate) struct Database {
    pool: Pool,
    tenant: String,
}

impl Database {
    /// Connects, and checks the tables and the tenant.
    pub(crate) async fn connect(config: &PgConfig) -> Result<Self, ConnectError> {
        let tenant = config.tenant().to_owned();
        let of_connection = tenant.clone();
        let begin = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            let tenant = of_connection.clone();
            Box::pin(async move {
                let set = "select set_config('windlass.tenant', $1, false), set_config('windlass.version', $2, false)";
                let set = client.execute(set, &[&tenant, &LOG_VERSION]).await;
                set.map(drop).map_err(HookError::Backend)
            })
        });
        let pool = Pool::builder(tls::manager(config)?)
            .max_size(config.connections())
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .post_create(begin)
            .build()
            .map_err(|error| ConnectError::Address { message: error.to_string() })?;
        let database = Self { pool, tenant };
        database.check().await?;
        Ok(database)
    }

    async fn check(&self) -> Result<(), ConnectError> {
        let client = self.client().await?;
        let found = migration::version(&client).await.map_err(|error| of_statement(&error))?;
        if found < migration::VERSION {
            return Err(ConnectError::Schema { found, needed: migration::VERSION });
        }
        let member =
            "select session_user::text, exists (select from wl_member where role = session_user and tenant = $1)";
        let row = client.query_one(member, &[&self.tenant]).await.map_err(|error| of_statement(&error))?;
        if row.try_get(1).map_err(odd)? {
            return Ok(());
        }
        Err(ConnectError::Tenant { role: row.try_get(0).map_err(odd)?, tenant: self.tenant.clone() })
    }

    pub(crate) fn tenant(&self) -> &str {
        &self.tenant
    }

    pub(crate) async fn client(&self) -> Result<Object, StoreError> {
        self.pool.get().await.map_err(|error| of_pool(&error))
    }

    /// Runs a statement once.
    pub(crate) async fn query(&self, sql: &str, arguments: Arguments<'_>) -> Result<Vec<Row>, StoreError> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(|error| of_statement(&error))?;
        client.query(&statement, arguments).await.map_err(|error| of_statement(&error))
    }

    /// Runs a statement that may run more than once, such as one that only reads.
    pub(crate) async fn repeat(&self, sql: &str, arguments: Arguments<'_>) -> Result<Vec<Row>, StoreError> {
        let mut tries = 1;
        loop {
            match self.query(sql, arguments).await {
                Err(error) if is_unavailable(&error) && tries < TRIES => tries += 1,
                done => return done,
            }
            tokio::time::sleep(REPEAT).await;
        }
    }
}

pub(crate) fn is_unavailable(error: &StoreError) -> bool {
    error.kind == windlass_session::StoreErrorKind::Unavailable
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}
