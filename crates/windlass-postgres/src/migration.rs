//! Tables of the store, in versions.

use crate::config::PgConfig;
use crate::error::{ConnectError, of_pool, of_statement};
use crate::tls;
use deadpool_postgres::{Pool, Runtime};
use tokio_postgres::Client;

/// Scripts, each of which makes the version with its number from one. They only widen: a program of an older version goes
/// on beside a newer one.
const SCRIPTS: &[&str] = &[include_str!("../migrations/0001.sql"), include_str!("../migrations/0002.sql")];

/// Version of the tables that this program needs.
pub(crate) const VERSION: i32 = SCRIPTS.len() as i32;

/// Number of the lock under which one migration runs at a time.
const LOCK: i64 = 0x0077_696e_646c_6173;

/// A role of the database, and the tenant whose sessions it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Role with a login. Grant it `windlass_worker` or `windlass_service`.
    pub role: String,
    /// Tenant whose rows the role reaches.
    pub tenant: String,
}

impl Member {
    /// Returns a member.
    pub fn new(role: impl Into<String>, tenant: impl Into<String>) -> Self {
        Self { role: role.into(), tenant: tenant.into() }
    }
}

/// Creates the tables, or brings them to the version of this program, and adds members of tenants. Run it with a role that
/// may create tables and roles; workers and services have roles of their own, which need `windlass_worker` or
/// `windlass_service`.
///
/// # Errors
/// The database refused, or cannot be reached. Nothing was changed then.
pub async fn migrate(config: &PgConfig, members: &[Member]) -> Result<(), ConnectError> {
    let pool = Pool::builder(tls::manager(config)?).max_size(1).runtime(Runtime::Tokio1).build();
    let pool = pool.map_err(|error| ConnectError::Address { message: error.to_string() })?;
    let mut client = pool.get().await.map_err(|error| of_pool(&error))?;
    let migrated = async {
        let change = client.transaction().await?;
        change.execute("select pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        change
            .batch_execute(
                "create table if not exists wl_schema(version int primary key, \
                 at timestamptz not null default clock_timestamp())",
            )
            .await?;
        let version: i32 =
            change.query_one("select coalesce(max(version), 0) from wl_schema", &[]).await?.try_get(0)?;
        for (number, script) in (1..).zip(SCRIPTS).filter(|(number, _)| *number > version) {
            change.batch_execute(script).await?;
            change.execute("insert into wl_schema (version) values ($1)", &[&number]).await?;
        }
        for member in members {
            let add = "insert into wl_member (role, tenant) values ($1::text::name, $2) on conflict do nothing";
            change.execute(add, &[&member.role, &member.tenant]).await?;
        }
        change.commit().await
    };
    Ok(migrated.await.map_err(|error| of_statement(&error))?)
}

/// Returns the version of the tables; zero without any.
pub(crate) async fn version(client: &Client) -> Result<i32, tokio_postgres::Error> {
    let exists: bool = client.query_one("select to_regclass('wl_schema') is not null", &[]).await?.try_get(0)?;
    if !exists {
        return Ok(0);
    }
    client.query_one("select coalesce(max(version), 0) from wl_schema", &[]).await?.try_get(0)
}
