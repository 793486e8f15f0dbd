//! Claude on Amazon Bedrock, at its endpoint that speaks the Messages API.
//!
//! Sources: AWS, "Inference using Anthropic Messages API",
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html>; Anthropic, "Claude on Amazon
//! Bedrock", <https://platform.claude.com/docs/en/build-with-claude/claude-on-amazon-bedrock-legacy>.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use windlass_http::provider::from_http;
use windlass_http::sigv4::Signer;
use windlass_http::{HttpClient, HttpOptions};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

use super::{PlatformMethod, PlatformRoute, check_name, messages, renamed};

/// Maximum number of regions whose connections are kept.
const MAX_REGIONS: usize = 64;

/// Models whose ids on Bedrock do not follow from those of the vendor.
const VERSIONED: &[(&str, &str)] = &[
    ("claude-opus-4-6", "claude-opus-4-6-v1"),
    ("claude-opus-4-5", "claude-opus-4-5-20251101-v1:0"),
    ("claude-opus-4-1", "claude-opus-4-1-20250805-v1:0"),
    ("claude-opus-4", "claude-opus-4-20250514-v1:0"),
    ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929-v1:0"),
    ("claude-sonnet-4", "claude-sonnet-4-20250514-v1:0"),
    ("claude-haiku-4-5", "claude-haiku-4-5-20251001-v1:0"),
];

/// Endpoints of the regions. Names of resources (ARNs) hold their region.
#[derive(Debug)]
pub(crate) struct BedrockEndpoints {
    region: String,
    /// Address, if it is not that of the region.
    base_url: Option<String>,
    options: HttpOptions,
    own: RegionEndpoint,
    others: Mutex<HashMap<String, RegionEndpoint>>,
}

#[derive(Debug, Clone)]
struct RegionEndpoint {
    client: HttpClient,
    signer: Signer,
}

impl RegionEndpoint {
    fn new(base_url: &str, region: &str, options: HttpOptions) -> Result<Self, ModelError> {
        check_name("region", region, b"")?;
        let client = HttpClient::new(base_url, options).map_err(from_http)?;
        let signer = Signer::new(base_url, region, service(client.host())).map_err(from_http)?;
        Ok(Self { client, signer })
    }
}

/// Returns the service name for signatures. The endpoint for OpenAI's dialects takes Messages too, under its own name.
fn service(host: &str) -> &'static str {
    if is_mantle(host) { "bedrock-mantle" } else { "bedrock" }
}

fn is_mantle(host: &str) -> bool {
    host.starts_with("bedrock-mantle.")
}

impl BedrockEndpoints {
    pub(crate) fn new(region: String, base_url: Option<String>, options: HttpOptions) -> Result<Self, ModelError> {
        let url = base_url.clone().unwrap_or_else(|| base_url_of(&region));
        let own = RegionEndpoint::new(&url, &region, options.clone())?;
        Ok(Self { region, base_url, options, own, others: Mutex::default() })
    }

    pub(super) fn host(&self) -> &str {
        self.own.client.host()
    }

    pub(super) fn route(&self, model: &str, method: PlatformMethod) -> Result<PlatformRoute, ModelError> {
        let endpoint = match region_of(model) {
            None => self.own.clone(),
            Some(region) if region == self.region => self.own.clone(),
            Some("") => {
                let text = format!("{model:?} names no region; it should look like arn:aws:bedrock:eu-west-1:…");
                return Err(ModelError::new(ModelErrorKind::NotFound, text).unbilled());
            }
            Some(region) => self.other(region)?,
        };
        let mut route = PlatformRoute::new(endpoint.client, messages(method));
        route.signer = Some(endpoint.signer);
        Ok(route)
    }

    fn other(&self, region: &str) -> Result<RegionEndpoint, ModelError> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(endpoint) = others.get(region) {
            return Ok(endpoint.clone());
        }
        // A gateway is kept; only the signature is for the region of the resource.
        let url = self.base_url.clone().unwrap_or_else(|| base_url_of(region));
        let endpoint = RegionEndpoint::new(&url, region, self.options.clone())?;
        if others.len() >= MAX_REGIONS {
            others.clear();
        }
        others.insert(region.to_owned(), endpoint.clone());
        Ok(endpoint)
    }

    /// Returns the id of a model of the vendor: newer models require an inference profile, which keeps requests in the
    /// geography if there is one, except at the other endpoint, which has no profiles.
    pub(super) fn id(&self, model: String) -> String {
        let profile = match self.region.split('-').next().unwrap_or_default() {
            _ if is_mantle(self.host()) => "",
            "us" if self.region.starts_with("us-gov-") => "us-gov.",
            "us" => "us.",
            "eu" => "eu.",
            _ => "global.",
        };
        let rename = |base: &str| {
            let known = VERSIONED.iter().find(|(id, _)| *id == base && !is_mantle(self.host()));
            let id = known.map_or(base, |(_, id)| id);
            base.starts_with("claude-").then(|| format!("{profile}anthropic.{id}"))
        };
        renamed(&model, rename).unwrap_or(model)
    }
}

fn base_url_of(region: &str) -> String {
    format!("https://bedrock-runtime.{region}.amazonaws.com/anthropic")
}

/// Returns the region in the name of a resource: `arn:aws:bedrock:eu-west-1:…`. `None` for another name.
fn region_of(model: &str) -> Option<&str> {
    let mut parts = model.split(':');
    (parts.next() == Some("arn")).then(|| parts.nth(2).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bedrock(region: &str, base_url: Option<&str>) -> BedrockEndpoints {
        BedrockEndpoints::new(region.to_owned(), base_url.map(str::to_owned), HttpOptions::default()).unwrap()
    }

    #[test]
    fn ids_are_inference_profiles_of_the_geography() {
        for (region, model, expected) in [
            ("us-east-1", "claude-opus-5-5", "us.anthropic.claude-opus-5-5"),
            ("eu-west-1", "claude-opus-5-5", "eu.anthropic.claude-opus-5-5"),
            ("us-gov-west-1", "claude-opus-5-5", "us-gov.anthropic.claude-opus-5-5"),
            ("ap-southeast-2", "claude-opus-5-5", "global.anthropic.claude-opus-5-5"),
            ("us-east-1", "claude-sonnet-4-5[1m]", "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]"),
            ("us-east-1", "global.anthropic.claude-opus-5-5", "global.anthropic.claude-opus-5-5"),
            ("us-east-1", "arn:aws:bedrock:eu-west-1:1:x/y", "arn:aws:bedrock:eu-west-1:1:x/y"),
        ] {
            assert_eq!(bedrock(region, Some("http://127.0.0.1")).id(model.to_owned()), expected);
        }
    }

    #[cfg(any(feature = "rustls-ring", feature = "rustls-aws-lc", feature = "rustls-no-provider"))]
    #[test]
    fn e6_a_resource_is_asked_for_in_its_region() {
        let bedrock = bedrock("us-east-1", None);
        let host =
            |model: &str| bedrock.route(model, PlatformMethod::Stream).map(|route| route.client.host().to_owned());
        assert_eq!(host("us.anthropic.claude-opus-5-5").unwrap(), "bedrock-runtime.us-east-1.amazonaws.com");
        for _ in 0..2 {
            let arn = "arn:aws:bedrock:eu-west-1:123:application-inference-profile/abc";
            assert_eq!(host(arn).unwrap(), "bedrock-runtime.eu-west-1.amazonaws.com");
        }
        assert_eq!(host("arn:aws:bedrock").unwrap_err().kind, ModelErrorKind::NotFound);
        assert_eq!(host("arn:aws:bedrock:evil.example#:1:x").unwrap_err().kind, ModelErrorKind::Configuration);
    }

    #[cfg(any(feature = "rustls-ring", feature = "rustls-aws-lc", feature = "rustls-no-provider"))]
    #[test]
    fn the_other_endpoint_has_its_own_service_and_bare_ids() {
        let mantle = bedrock("us-east-1", Some("https://bedrock-mantle.us-east-1.api.aws/anthropic"));
        assert_eq!(mantle.id("claude-haiku-4-5".to_owned()), "anthropic.claude-haiku-4-5");
        assert_eq!(service(mantle.host()), "bedrock-mantle");
        assert_eq!(service("bedrock-runtime.us-east-1.amazonaws.com"), "bedrock");
    }

    #[test]
    fn regions_are_checked() {
        for region in ["", "evil.example/", "-x", "a_b"] {
            let built =
                BedrockEndpoints::new(region.to_owned(), Some("http://127.0.0.1".to_owned()), HttpOptions::default());
            assert_eq!(built.unwrap_err().kind, ModelErrorKind::Configuration, "{region:?}");
        }
    }
}
