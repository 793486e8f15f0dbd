//! Encrypted connections.

use crate::server::{Server, TENANT};
use std::net::TcpListener;
use windlass_postgres::{ConnectError, PgConfig, PgStore};
use windlass_session::{Owner, SessionStore};
use windlass_testkit::store::{header, key};

#[tokio::test]
async fn connections_are_encrypted_and_the_certificate_is_verified() {
    let Some(server) = Server::start() else { return };
    let Some(certificate) = server.certificate() else { return };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let database = server.database().await;
    for setting in ["ssl = on", "listen_addresses = '127.0.0.1'", &format!("port = {port}")] {
        let (name, value) = setting.split_once(" = ").unwrap();
        let value = value.trim_matches('\'');
        server.sql("postgres", &format!("alter system set {name} = '{value}'"));
    }
    server.control(&["-m", "fast", "restart"]);

    let address =
        format!("host=localhost hostaddr=127.0.0.1 port={port} user=worker dbname={} sslmode=require", database.name);
    let config = || PgConfig::new(&address, TENANT).unwrap();
    let store = PgStore::connect(&config().with_root_certificates(certificate)).await.unwrap();
    let lease = store.open(&key("tls", 1), &Owner::new(1, "test"), header()).await.unwrap();
    store.close(lease).await.unwrap();
    // The authorities of this machine do not know it.
    let error = PgStore::connect(&config()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Store(_)), "{error}");
    let wrong = config().with_root_certificates("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    assert!(matches!(PgStore::connect(&wrong).await.unwrap_err(), ConnectError::Tls { .. }));
}
