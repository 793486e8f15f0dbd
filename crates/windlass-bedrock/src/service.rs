//! The service in its regions.

use crate::endpoint;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use windlass_http::provider::from_http;
use windlass_http::{HttpClient, HttpOptions};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// The most regions whose connections are kept.
const MAX_REGIONS: usize = 64;

/// Connections to the service: to one base URL for all, or to the hosts of the regions that models name.
#[derive(Debug)]
pub(crate) struct Service {
    /// Of the base URL, or of the region that is set.
    client: HttpClient,
    /// Whether models that name a region are elsewhere.
    has_regions: bool,
    region: Option<String>,
    options: HttpOptions,
    others: Mutex<BTreeMap<String, HttpClient>>,
}

impl Service {
    /// # Errors
    /// There is neither a base URL nor a region, or the base URL cannot be used.
    pub(crate) fn new(
        base_url: Option<String>,
        region: Option<String>,
        options: HttpOptions,
    ) -> Result<Self, ModelError> {
        let has_regions = base_url.is_none();
        let Some(url) = base_url.or_else(|| region.as_deref().map(endpoint::base_url)) else {
            let text = "no region: set AWS_REGION, or give one with `.region(..)`";
            return Err(ModelError::new(ModelErrorKind::Configuration, text));
        };
        let client = HttpClient::new(&url, options.clone()).map_err(from_http)?;
        Ok(Self { client, has_regions, region, options, others: Mutex::default() })
    }

    /// The host that errors and logs name.
    pub(crate) fn host(&self) -> &str {
        self.client.host()
    }

    /// The connections for a model.
    pub(crate) fn client_for(&self, model: &str) -> Result<HttpClient, ModelError> {
        let named = endpoint::region_of(model).filter(|region| Some(*region) != self.region.as_deref());
        let (Some(region), true) = (named, self.has_regions) else { return Ok(self.client.clone()) };
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = others.get(region) {
            return Ok(client.clone());
        }
        let client = HttpClient::new(&endpoint::base_url(region), self.options.clone()).map_err(from_http)?;
        if others.len() < MAX_REGIONS {
            others.insert(region.to_owned(), client.clone());
        }
        Ok(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e6_an_arn_is_asked_in_its_region() {
        let service = |url: Option<&str>| {
            Service::new(url.map(str::to_owned), Some("us-east-1".to_owned()), HttpOptions::default()).unwrap()
        };
        let arn = "arn:aws:bedrock:eu-west-3:123456789012:inference-profile/eu.amazon.nova-lite-v1:0";
        let regional = service(None);
        let host = |model: &str| regional.client_for(model).unwrap().host().to_owned();
        assert_eq!(host(arn), "bedrock-runtime.eu-west-3.amazonaws.com");
        assert_eq!(host(arn), "bedrock-runtime.eu-west-3.amazonaws.com");
        assert_eq!(host("amazon.nova-lite-v1:0"), "bedrock-runtime.us-east-1.amazonaws.com");
        assert_eq!(regional.others.lock().unwrap().len(), 1);
        let fixed = service(Some("http://127.0.0.1:9"));
        assert_eq!(fixed.client_for(arn).unwrap().host(), "127.0.0.1:9");
    }

    #[test]
    fn the_number_of_regions_is_bounded() {
        let service = Service::new(None, Some("us-east-1".to_owned()), HttpOptions::default()).unwrap();
        for number in 0..200 {
            service.client_for(&format!("arn:aws:bedrock:xx-{number}:1:x/y")).unwrap();
        }
        assert_eq!(service.others.lock().unwrap().len(), MAX_REGIONS);
        assert!(Service::new(None, None, HttpOptions::default()).is_err());
    }
}
