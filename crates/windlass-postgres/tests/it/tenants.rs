//! Roles and tenants: a role sees the rows of its tenants only, and does what its part is.

use crate::server::{TENANT, shared};
use std::time::Duration;
use windlass_postgres::{ConnectError, InboxMessage, NewSession, PgConfig, PgStore};
use windlass_session::{Owner, SessionStore, StoreErrorKind};
use windlass_testkit::store::{Crash, all, header, key};

const TERM: Duration = Duration::from_secs(15);

#[tokio::test]
async fn a_role_sees_its_tenants_only() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let store = database.store(TERM).await;
    all(&store, Crash::LeavesWholeEntries).await.unwrap();
    let sessions: u32 = database.sql("select count(*) from wl_session where seq > 0").parse().unwrap();
    assert!(sessions > 5);

    // Not a member: refused when it connects.
    let other = PgConfig::new(&server.address("worker", &database.name), "other").unwrap();
    let error = PgStore::connect(&other).await.unwrap_err();
    assert!(matches!(error, ConnectError::Tenant { .. }), "{error}");
    // A statement that names another tenant, or none, changes and shows no row.
    for tenant in ["", "other"] {
        let sql = format!(
            "set session authorization worker; select set_config('windlass.tenant', '{tenant}', false) is null; \
             select count(*) from wl_session; select count(*) from wl_log; \
             with gone as (delete from wl_session returning 1) select count(*) from gone"
        );
        assert_eq!(database.sql(&sql).lines().skip(1).collect::<Vec<_>>(), ["0", "0", "0"], "{tenant:?}");
    }
    let kept: u32 = database.sql("select count(*) from wl_session where seq > 0").parse().unwrap();
    assert_eq!(kept, sessions);
    // Under the tenant that it may use, a role sees no row of another.
    database.sql("insert into wl_session (tenant, project, session) values ('other', 'p', 's')");
    let sql = format!(
        "set session authorization worker; select set_config('windlass.tenant', '{TENANT}', false) is null; \
         select count(*) from wl_session where tenant = 'other'"
    );
    assert_eq!(database.sql(&sql).lines().last(), Some("0"));
}

#[tokio::test]
async fn a_service_fills_inboxes_and_reads_but_writes_no_log() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let service = PgStore::connect(&database.config("service")).await.unwrap();
    let key = key("service", 1);
    assert!(service.begin(&key, &NewSession::new("small", "repository")).await.unwrap());
    assert!(!service.begin(&key, &NewSession::new("other", "other")).await.unwrap());
    let sent = service.send(&key, "k1", &InboxMessage::prompt("go")).await.unwrap();
    assert!(sent.is_new);
    // The same key: once. Another message under it: refused.
    let again = service.send(&key, "k1", &InboxMessage::prompt("go")).await.unwrap();
    assert!(!again.is_new && again.number == sent.number);
    let other = service.send(&key, "k1", &InboxMessage::prompt("stop")).await.unwrap_err();
    assert_eq!(other.kind, StoreErrorKind::Exists);
    assert_eq!(database.store(TERM).await.pending(&key, 0).await.unwrap().len(), 1);

    let error = service.open(&key, &Owner::new(1, "service"), header()).await.unwrap_err();
    assert!(error.to_string().contains("permission denied"), "{error}");
    assert!(service.delete(&key).await.is_err());
}
