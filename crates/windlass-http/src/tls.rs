//! TLS of a client, chosen by the features of this crate, and never by a choice of another crate for reqwest.

use reqwest::{Client, ClientBuilder, Url};

use crate::roots::Pem;
use crate::{HttpError, HttpErrorKind};

/// Certificate authorities that a client accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Authorities of the trust store of this machine. Reading it takes some milliseconds.
    System,
    /// Authorities of the trust store, and these.
    SystemAnd(Vec<Pem>),
    /// These authorities, and no others.
    Only(Vec<Pem>),
    /// No authorities. For clients that only use plain HTTP.
    None,
}

/// `true` if this build can connect to https addresses.
const IS_BUILT_IN: bool = cfg!(any(feature = "rustls-no-provider", feature = "native-tls"));

/// Checks that this build can connect to an address.
///
/// # Errors
/// [`HttpErrorKind::Configuration`] if the address is https and no TLS feature is enabled.
pub fn check(address: &Url) -> Result<(), HttpError> {
    judge(address, IS_BUILT_IN)
}

fn judge(address: &Url, has_tls: bool) -> Result<(), HttpError> {
    if has_tls || address.scheme() != "https" {
        return Ok(());
    }
    let host = address.host_str().unwrap_or_default();
    let what = format!(
        "cannot connect securely to {host}: this program is built without TLS; enable the feature `rustls-ring`, \
         `rustls-aws-lc` or `native-tls` of windlass"
    );
    Err(HttpError::new(HttpErrorKind::Configuration, what))
}

/// Returns the client builder, with TLS if a feature of it is enabled.
///
/// # Errors
/// [`HttpErrorKind::Configuration`] if the trust store is unreadable, or if TLS is to use the cryptography of the
/// program and the program has installed none.
#[cfg(feature = "rustls-no-provider")]
pub fn client_builder(trust: Trust) -> Result<ClientBuilder, HttpError> {
    Ok(Client::builder().tls_backend_preconfigured(rustls_backend::config(trust)?))
}

/// Returns the client builder, with TLS if a feature of it is enabled.
///
/// # Errors
/// [`HttpErrorKind::Configuration`] if certificates of an authority are unreadable.
#[cfg(all(feature = "native-tls", not(feature = "rustls-no-provider")))]
pub fn client_builder(trust: Trust) -> Result<ClientBuilder, HttpError> {
    let builder = Client::builder().tls_backend_native();
    Ok(match trust {
        Trust::System => builder,
        Trust::SystemAnd(more) => builder.tls_certs_merge(system_backend::certificates(&more)?),
        Trust::Only(all) => builder.tls_certs_only(system_backend::certificates(&all)?),
        Trust::None => builder.tls_certs_only([]),
    })
}

/// Returns the client builder, with TLS if a feature of it is enabled.
///
/// # Errors
/// Never fails without TLS.
#[cfg(not(any(feature = "rustls-no-provider", feature = "native-tls")))]
pub fn client_builder(_trust: Trust) -> Result<ClientBuilder, HttpError> {
    Ok(Client::builder())
}

#[cfg(all(feature = "native-tls", not(feature = "rustls-no-provider")))]
mod system_backend {
    use reqwest::Certificate;

    use crate::roots::Pem;
    use crate::{HttpError, HttpErrorKind};

    /// Parses the certificates of PEM texts.
    pub(super) fn certificates(texts: &[Pem]) -> Result<Vec<Certificate>, HttpError> {
        let mut all = Vec::new();
        for Pem { text, from } in texts {
            let wrong = |why: &str| HttpError::new(HttpErrorKind::Configuration, format!("{from}: {why}"));
            let found = Certificate::from_pem_bundle(text).map_err(|_| wrong("a certificate cannot be read"))?;
            if found.is_empty() {
                return Err(wrong("there is no certificate; it should hold some as PEM (BEGIN CERTIFICATE)"));
            }
            all.extend(found);
        }
        Ok(all)
    }
}

#[cfg(feature = "rustls-no-provider")]
mod rustls_backend {
    use std::sync::Arc;

    use rustls::crypto::CryptoProvider;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    use rustls::{ClientConfig, RootCertStore};
    use rustls_platform_verifier::{BuilderVerifierExt as _, Verifier};

    use super::Trust;
    use crate::roots::Pem;
    use crate::{HttpError, HttpErrorKind};

    pub(super) fn config(trust: Trust) -> Result<ClientConfig, HttpError> {
        let unusable = |error: rustls::Error| {
            HttpError::new(HttpErrorKind::Configuration, format!("TLS cannot be set up: {error}")).with_source(error)
        };
        let cryptography = provider()?;
        let versions = ClientConfig::builder_with_provider(Arc::clone(&cryptography))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?;
        let verifying = match trust {
            Trust::System => versions.with_platform_verifier().map_err(unusable)?,
            Trust::SystemAnd(more) => {
                let verifier = Verifier::new_with_extra_roots(certificates(&more)?, cryptography).map_err(unusable)?;
                versions.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
            Trust::Only(all) => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(certificates(&all)?);
                versions.with_root_certificates(roots)
            }
            Trust::None => versions.with_root_certificates(RootCertStore::empty()),
        };
        let mut config = verifying.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Parses the certificates of PEM texts.
    fn certificates(texts: &[Pem]) -> Result<Vec<CertificateDer<'static>>, HttpError> {
        let mut all = Vec::new();
        for Pem { text, from } in texts {
            let wrong = |why: &str| HttpError::new(HttpErrorKind::Configuration, format!("{from}: {why}"));
            let before = all.len();
            for certificate in CertificateDer::pem_slice_iter(text) {
                let certificate = certificate.map_err(|_| wrong("the certificates are not written as PEM"))?;
                let mut parsed = RootCertStore::empty();
                parsed.add(certificate.clone()).map_err(|_| wrong("a certificate cannot be read"))?;
                all.push(certificate);
            }
            if all.len() == before {
                return Err(wrong("there is no certificate; it should hold some as PEM (BEGIN CERTIFICATE)"));
            }
        }
        Ok(all)
    }

    /// The provider that the program has installed for its process takes precedence: the program may have to use a
    /// certified one.
    fn provider() -> Result<Arc<CryptoProvider>, HttpError> {
        match CryptoProvider::get_default() {
            Some(installed) => Ok(Arc::clone(installed)),
            None => built_in(),
        }
    }

    #[cfg(feature = "rustls-aws-lc")]
    fn built_in() -> Result<Arc<CryptoProvider>, HttpError> {
        Ok(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
    }

    #[cfg(all(feature = "rustls-ring", not(feature = "rustls-aws-lc")))]
    fn built_in() -> Result<Arc<CryptoProvider>, HttpError> {
        Ok(Arc::new(rustls::crypto::ring::default_provider()))
    }

    #[cfg(not(any(feature = "rustls-ring", feature = "rustls-aws-lc")))]
    fn built_in() -> Result<Arc<CryptoProvider>, HttpError> {
        let what = "TLS has no cryptography: install one with `rustls::crypto::CryptoProvider::install_default`, or \
                    enable the feature `rustls-ring` or `rustls-aws-lc` of windlass";
        Err(HttpError::new(HttpErrorKind::Configuration, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tls_an_https_address_is_refused_with_the_features_that_bring_it() {
        let address = |text: &str| Url::parse(text).unwrap();
        let error = judge(&address("https://user:word@api.example.com/v1?key=k"), false).unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Configuration);
        assert!(error.is_unsent());
        let text = error.to_string();
        assert!(
            text.contains("api.example.com") && text.contains("`rustls-ring`, `rustls-aws-lc` or `native-tls`"),
            "{text}"
        );
        assert!(!text.contains("word") && !text.contains("key=k"), "{text}");
        judge(&address("http://127.0.0.1:8080"), false).unwrap();
        judge(&address("https://api.example.com"), true).unwrap();
    }
}
