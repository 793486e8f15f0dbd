//! TLS of connections to the database.

use crate::ConnectError;
use crate::config::PgConfig;
use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod};
use tokio_postgres::NoTls;

/// Returns the manager of connections, with TLS where the address or its `sslmode` asks for it.
///
/// # Errors
/// [`ConnectError::Tls`] when TLS is needed and cannot be set up.
pub(crate) fn manager(config: &PgConfig) -> Result<Manager, ConnectError> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    if !config.needs_tls() {
        return Ok(Manager::from_config(config.address().clone(), NoTls, recycling));
    }
    #[cfg(feature = "rustls-no-provider")]
    let manager = rustls_backend::manager(config, recycling);
    #[cfg(not(feature = "rustls-no-provider"))]
    let manager = Err(ConnectError::Tls {
        message: "this program is built without TLS, which a database on another machine needs: enable the feature \
                  `rustls-ring` or `rustls-aws-lc`"
            .to_owned(),
    });
    manager
}

#[cfg(feature = "rustls-no-provider")]
mod rustls_backend {
    use crate::ConnectError;
    use crate::config::PgConfig;
    use deadpool_postgres::{Manager, ManagerConfig};
    use rustls::crypto::CryptoProvider;
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, RootCertStore};
    use rustls_platform_verifier::BuilderVerifierExt as _;
    use std::future::Future;
    use std::io;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
    use tokio_rustls::TlsConnector;

    pub(super) fn manager(config: &PgConfig, recycling: ManagerConfig) -> Result<Manager, ConnectError> {
        let tls = Tls(Arc::new(client(config).map_err(|message| ConnectError::Tls { message })?));
        let mut address = config.address().clone();
        address.ssl_mode(tokio_postgres::config::SslMode::Require);
        Ok(Manager::from_config(address, tls, recycling))
    }

    fn client(config: &PgConfig) -> Result<ClientConfig, String> {
        let unusable = |error: rustls::Error| format!("TLS cannot be set up: {error}");
        let versions =
            ClientConfig::builder_with_provider(provider()?).with_safe_default_protocol_versions().map_err(unusable)?;
        let verifying = match config.root_certificates() {
            None => versions.with_platform_verifier().map_err(unusable)?,
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for certificate in CertificateDer::pem_slice_iter(pem) {
                    let certificate =
                        certificate.map_err(|error| format!("the root certificates are not PEM: {error}"))?;
                    roots.add(certificate).map_err(unusable)?;
                }
                versions.with_root_certificates(roots)
            }
        };
        Ok(verifying.with_no_client_auth())
    }

    /// The provider that the program has installed for its process takes precedence.
    fn provider() -> Result<Arc<CryptoProvider>, String> {
        match CryptoProvider::get_default() {
            Some(installed) => Ok(Arc::clone(installed)),
            None => built_in(),
        }
    }

    #[cfg(feature = "rustls-aws-lc")]
    fn built_in() -> Result<Arc<CryptoProvider>, String> {
        Ok(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
    }

    #[cfg(all(feature = "rustls-ring", not(feature = "rustls-aws-lc")))]
    fn built_in() -> Result<Arc<CryptoProvider>, String> {
        Ok(Arc::new(rustls::crypto::ring::default_provider()))
    }

    #[cfg(not(any(feature = "rustls-ring", feature = "rustls-aws-lc")))]
    fn built_in() -> Result<Arc<CryptoProvider>, String> {
        Err("TLS has no cryptography: install one with `rustls::crypto::CryptoProvider::install_default`, or enable the \
             feature `rustls-ring` or `rustls-aws-lc`"
            .to_owned())
    }

    /// Configuration of TLS for all connections.
    #[derive(Clone)]
    struct Tls(Arc<ClientConfig>);

    impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
        type Stream = Encrypted<S>;
        type TlsConnect = Handshake;
        type Error = rustls::pki_types::InvalidDnsNameError;

        fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Self::Error> {
            let name = ServerName::try_from(host)?.to_owned();
            Ok(Handshake { connector: TlsConnector::from(Arc::clone(&self.0)), name })
        }
    }

    /// Handshake with one server.
    struct Handshake {
        connector: TlsConnector,
        name: ServerName<'static>,
    }

    impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
        type Stream = Encrypted<S>;
        type Error = io::Error;
        type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

        fn connect(self, stream: S) -> Self::Future {
            Box::pin(async move { Ok(Encrypted(Box::new(self.connector.connect(self.name, stream).await?))) })
        }
    }

    /// An encrypted connection. The certificate is verified, so passwords need no channel binding.
    struct Encrypted<S>(Box<tokio_rustls::client::TlsStream<S>>);

    impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
        fn channel_binding(&self) -> ChannelBinding {
            ChannelBinding::none()
        }
    }

    impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
        fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(cx, into)
        }
    }

    impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }
}
