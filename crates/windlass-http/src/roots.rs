//! Trusted certificate authorities.

use std::fmt;
use std::sync::Arc;

use crate::tls::Trust;
use crate::{HttpError, HttpErrorKind};

/// Maximum size of a file of certificates, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Certificate authorities that a client trusts. Default: those of the trust store of this machine.
#[derive(Clone, Default)]
pub struct Roots {
    /// File with the only trusted authorities.
    only: Option<RootsFile>,
    /// File with additional authorities.
    more: Option<RootsFile>,
    given: Vec<Arc<[u8]>>,
}

/// File that a variable names.
#[derive(Clone, Debug)]
struct RootsFile {
    variable: &'static str,
    path: String,
}

impl Roots {
    /// Trusts the authorities of a PEM text, in addition to the others.
    pub fn add_pem(&mut self, pem: impl AsRef<[u8]>) {
        self.given.push(pem.as_ref().into());
    }

    /// Takes the files from the variables `SSL_CERT_FILE`, which replaces the authorities of the system, and
    /// `NODE_EXTRA_CA_CERTS`, which adds more.
    pub(crate) fn look_up(&mut self, lookup: &dyn Fn(&str) -> Option<String>) {
        let file = |variable: &'static str| {
            let path = lookup(variable).filter(|path| !path.trim().is_empty())?;
            Some(RootsFile { variable, path })
        };
        self.only = file("SSL_CERT_FILE").or(self.only.take());
        self.more = file("NODE_EXTRA_CA_CERTS").or(self.more.take());
    }

    /// Reads the files. Called when the client is set up: once, and only for TLS.
    ///
    /// # Errors
    /// Fails if a file is unreadable.
    pub(crate) fn trust(&self) -> Result<Trust, HttpError> {
        let mut more = Vec::new();
        if let Some(file) = &self.more {
            more.push(file.read()?);
        }
        let given = self.given.iter().map(|pem| Pem { text: pem.to_vec(), from: "root_certificate_pem".to_owned() });
        more.extend(given);
        Ok(match &self.only {
            Some(file) => {
                more.insert(0, file.read()?);
                Trust::Only(more)
            }
            None if more.is_empty() => Trust::System,
            None => Trust::SystemAnd(more),
        })
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Roots")
            .field("only", &self.only)
            .field("more", &self.more)
            .field("given", &self.given.len())
            .finish()
    }
}

impl RootsFile {
    fn read(&self) -> Result<Pem, HttpError> {
        use std::io::Read as _;
        let Self { variable, path } = self;
        let mut text = Vec::new();
        let read = std::fs::File::open(path).and_then(|file| file.take(MAX_FILE).read_to_end(&mut text));
        read.map_err(|error| {
            let what = format!("the certificates that {variable} names cannot be read: {path}: {error}");
            HttpError::new(HttpErrorKind::Configuration, what).with_source(error)
        })?;
        Ok(Pem { text, from: format!("{variable} ({path})") })
    }
}

/// Certificates as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pem {
    pub(crate) text: Vec<u8>,
    /// Source of the certificates, for messages.
    pub(crate) from: String,
}
