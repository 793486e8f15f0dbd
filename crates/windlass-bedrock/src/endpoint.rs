//! Hosts and paths of models.

use std::fmt::Write as _;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Maximum length of a model name that the API takes, in bytes.
const MAX_MODEL: usize = 2_048;

/// Operation on a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Converse,
    ConverseStream,
    CountTokens,
}

/// Returns the address of the service in a region.
pub(crate) fn base_url(region: &str) -> String {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    format!("https://bedrock-runtime.{region}.{domain}")
}

/// `true` if a text can be the name of a region, which becomes part of a host.
pub(crate) fn is_region(region: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let starts_well = region.starts_with(|first: char| first.is_ascii_lowercase());
    starts_well && region.len() <= 32 && !region.ends_with('-') && region.bytes().all(is_plain)
}

/// Returns the region in a model name that is an ARN.
pub(crate) fn region_of(model: &str) -> Option<&str> {
    let mut parts = model.split(':');
    if parts.next() != Some("arn") {
        return None;
    }
    parts.nth(2).filter(|region| is_region(region))
}

/// Returns the region in the host of a service address, that of a private endpoint included.
pub(crate) fn region_of_url(url: &str) -> Option<&str> {
    let (_, behind) = url.split_once("bedrock-runtime.").or_else(|| url.split_once("bedrock-runtime-fips."))?;
    behind.split('.').next().filter(|region| is_region(region) && behind.contains('.'))
}

/// Returns the path of an operation. The model name is one segment of it, slashes included.
///
/// # Errors
/// Fails if the name is no valid model name.
pub(crate) fn path(model: &str, operation: Operation) -> Result<String, ModelError> {
    let is_name = !model.is_empty() && model.len() <= MAX_MODEL && !matches!(model, "." | "..");
    if !is_name || model.contains(|c: char| c.is_control() || c.is_whitespace()) {
        let text = format!("{:?} is no name of a model", model.chars().take(100).collect::<String>());
        return Err(ModelError::new(ModelErrorKind::NotFound, text));
    }
    let mut path = "/model/".to_owned();
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path.push_str(match operation {
        Operation::Converse => "/converse",
        Operation::ConverseStream => "/converse-stream",
        Operation::CountTokens => "/count-tokens",
    });
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARN: &str = "arn:aws:bedrock:eu-west-3:123456789012:inference-profile/eu.amazon.nova-lite-v1:0";

    #[test]
    fn e6_slashes_and_colons_of_a_model_are_escaped() {
        let stream = |model: &str| path(model, Operation::ConverseStream).unwrap();
        assert_eq!(stream("amazon.nova-lite-v1:0"), "/model/amazon.nova-lite-v1%3A0/converse-stream");
        let encoded = "arn%3Aaws%3Abedrock%3Aeu-west-3%3A123456789012%3Ainference-profile%2Feu.amazon.nova-lite-v1%3A0";
        assert_eq!(stream(ARN), format!("/model/{encoded}/converse-stream"));
        assert_eq!(path("a?b#c", Operation::CountTokens).unwrap(), "/model/a%3Fb%23c/count-tokens");
        let long = "a".repeat(2_049);
        for name in ["", ".", "..", "a b", "a\n", &long] {
            assert_eq!(path(name, Operation::ConverseStream).unwrap_err().kind, ModelErrorKind::NotFound, "{name}");
        }
    }

    #[test]
    fn e6_an_arn_names_its_region() {
        assert_eq!(region_of(ARN), Some("eu-west-3"));
        assert_eq!(region_of("arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/x"), Some("us-gov-west-1"));
        for model in
            ["amazon.nova-lite-v1:0", "arn:aws:bedrock", "arn:aws:bedrock::1:x", "arn:aws:bedrock:evil.com/:1:x"]
        {
            assert_eq!(region_of(model), None, "{model}");
        }
    }

    #[test]
    fn addresses_of_the_service_name_their_region() {
        for (url, region) in [
            ("https://bedrock-runtime.us-west-2.amazonaws.com", Some("us-west-2")),
            ("https://bedrock-runtime-fips.us-east-1.amazonaws.com", Some("us-east-1")),
            ("https://vpce-1a.bedrock-runtime.eu-west-3.vpce.amazonaws.com", Some("eu-west-3")),
            ("http://127.0.0.1:8080", None),
            ("https://bedrock-runtime.", None),
        ] {
            assert_eq!(region_of_url(url), region, "{url}");
        }
    }

    #[test]
    fn regions_have_their_hosts() {
        assert_eq!(base_url("eu-west-3"), "https://bedrock-runtime.eu-west-3.amazonaws.com");
        assert_eq!(base_url("cn-north-1"), "https://bedrock-runtime.cn-north-1.amazonaws.com.cn");
        for region in ["", "US-EAST-1", "us-east-1.evil", "us_east", "-a", "a-", "1a", "us-east-1#"] {
            assert!(!is_region(region), "{region}");
        }
    }
}
