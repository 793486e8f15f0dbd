//! Service in its regions.

use crate::endpoint;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use windlass_http::provider::{Credential, CredentialKey, from_http};
use windlass_http::sigv4::Signer;
use windlass_http::{HeaderMap, HttpClient, HttpOptions};
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, Timestamp};

/// Maximum number of regions whose connections are kept.
const MAX_REGIONS: usize = 64;

/// Service in one region.
#[derive(Debug, Clone)]
pub(crate) struct ServiceRegion {
    pub(crate) client: HttpClient,
    /// Signer; `None` if no region is known.
    signer: Option<Signer>,
}

impl ServiceRegion {
    fn new(base_url: &str, region: Option<&str>, options: HttpOptions) -> Result<Self, ModelError> {
        let client = HttpClient::new(base_url, options).map_err(from_http)?;
        let signer = region.map(|region| Signer::new(base_url, region, "bedrock")).transpose().map_err(from_http)?;
        Ok(Self { client, signer })
    }

    /// Adds authentication to the headers of a request.
    ///
    /// # Errors
    /// Fails if a header cannot carry the credential, or if keys of AWS are to sign without a region.
    pub(crate) fn authorize(
        &self,
        credential: &Credential,
        headers: &mut HeaderMap,
        path: &str,
        body: &[u8],
        at: Timestamp,
    ) -> Result<(), ModelError> {
        match (&self.signer, &credential.key) {
            (Some(signer), _) => signer.authorize(credential, headers, path, body, at).map_err(from_http),
            (None, CredentialKey::Bearer(token)) => {
                headers.insert("authorization", token.header("Bearer ").map_err(from_http)?);
                Ok(())
            }
            (None, _) => Err(no_region()),
        }
    }
}

fn no_region() -> ModelError {
    let text = "no region: set AWS_REGION, or give one with `.region(..)`";
    ModelError::new(ModelErrorKind::Configuration, text).unbilled()
}

/// Service in its regions: the configured one, and those that models name.
#[derive(Debug)]
pub(crate) struct RegionalService {
    own: ServiceRegion,
    region: Option<String>,
    /// Address of a gateway for all regions.
    base_url: Option<String>,
    options: HttpOptions,
    others: Mutex<BTreeMap<String, ServiceRegion>>,
}

impl RegionalService {
    /// # Errors
    /// Fails if there is neither a base URL nor a region, or if the base URL is unusable.
    pub(crate) fn new(
        base_url: Option<String>,
        region: Option<String>,
        options: HttpOptions,
    ) -> Result<Self, ModelError> {
        let region = region.or_else(|| endpoint::region_of_url(base_url.as_deref()?).map(str::to_owned));
        let url = base_url.clone().or_else(|| region.as_deref().map(endpoint::base_url)).ok_or_else(no_region)?;
        let own = ServiceRegion::new(&url, region.as_deref(), options.clone())?;
        Ok(Self { own, region, base_url, options, others: Mutex::default() })
    }

    /// Returns the host for errors and logs.
    pub(crate) fn host(&self) -> &str {
        self.own.client.host()
    }

    /// Returns the configured region, or an empty text.
    pub(crate) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or_default()
    }

    /// Returns the site of a model.
    pub(crate) fn site_of(&self, model: &str) -> Result<ServiceRegion, ModelError> {
        let named = endpoint::region_of(model).filter(|region| Some(*region) != self.region.as_deref());
        let Some(region) = named else { return Ok(self.own.clone()) };
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = others.get(region) {
            return Ok(site.clone());
        }
        // A gateway is kept; only the signature is for the region of the model.
        let url = self.base_url.clone().unwrap_or_else(|| endpoint::base_url(region));
        let site = ServiceRegion::new(&url, Some(region), self.options.clone())?;
        if others.len() < MAX_REGIONS {
            others.insert(region.to_owned(), site.clone());
        }
        Ok(site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e6_an_arn_is_asked_in_its_region() {
        let service = |url: Option<&str>| {
            RegionalService::new(url.map(str::to_owned), Some("us-east-1".to_owned()), HttpOptions::default()).unwrap()
        };
        let arn = "arn:aws:bedrock:eu-west-3:123456789012:inference-profile/eu.amazon.nova-lite-v1:0";
        let regional = service(None);
        let host = |model: &str| regional.site_of(model).unwrap().client.host().to_owned();
        assert_eq!(host(arn), "bedrock-runtime.eu-west-3.amazonaws.com");
        assert_eq!(host(arn), "bedrock-runtime.eu-west-3.amazonaws.com");
        assert_eq!(host("amazon.nova-lite-v1:0"), "bedrock-runtime.us-east-1.amazonaws.com");
        assert_eq!(regional.others.lock().unwrap().len(), 1);
        let fixed = service(Some("http://127.0.0.1:9"));
        assert_eq!(fixed.site_of(arn).unwrap().client.host(), "127.0.0.1:9");
    }

    #[test]
    fn the_number_of_regions_is_bounded() {
        let service = RegionalService::new(None, Some("us-east-1".to_owned()), HttpOptions::default()).unwrap();
        for number in 0..200 {
            service.site_of(&format!("arn:aws:bedrock:xx-{number}:1:x/y")).unwrap();
        }
        assert_eq!(service.others.lock().unwrap().len(), MAX_REGIONS);
        assert!(RegionalService::new(None, None, HttpOptions::default()).is_err());
    }
}
