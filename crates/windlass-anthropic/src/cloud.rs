//! Providers for clouds.

use windlass_http::provider::google_credentials;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

use crate::builder::ServicePlatform;
use crate::{Anthropic, AnthropicBuilder};

impl Anthropic {
    /// Returns a builder for Claude on Vertex AI in a project and a region (`global`, `us`, `eu`, `europe-west1`).
    /// Building needs a source of access tokens; the provider's name is `vertex`.
    ///
    /// ```no_run
    /// use windlass_anthropic::{Anthropic, CommandCredentials, RefreshingCredentials};
    ///
    /// let gcloud = CommandCredentials::new("gcloud").args(["auth", "print-access-token"]);
    /// let claude = Anthropic::vertex("my-project", "eu").credentials(RefreshingCredentials::new(gcloud)).build()?;
    /// # Ok::<(), windlass_model::ModelError>(())
    /// ```
    pub fn vertex(project: impl Into<String>, region: impl Into<String>) -> AnthropicBuilder {
        AnthropicBuilder::on(ServicePlatform::Vertex { project: project.into(), region: region.into() })
    }

    /// Returns a builder for Claude on Amazon Bedrock in a region, at the endpoint that speaks the Messages API.
    /// Building needs keys of AWS or a key of Bedrock; the provider's name is `bedrock`.
    ///
    /// Models have the names of Bedrock (`us.anthropic.claude-…`, or the ARN of an inference profile), or those of the
    /// vendor, which mean the inference profile of the region's geography.
    ///
    /// ```no_run
    /// use windlass_anthropic::{Anthropic, AwsKeys, Credential};
    ///
    /// let keys = Credential::aws(AwsKeys::new("AKIA…", "…"));
    /// let claude = Anthropic::bedrock("eu-west-1").credentials(keys).build()?;
    /// # Ok::<(), windlass_model::ModelError>(())
    /// ```
    #[cfg(feature = "bedrock")]
    pub fn bedrock(region: impl Into<String>) -> AnthropicBuilder {
        AnthropicBuilder::on(ServicePlatform::Bedrock { region: region.into() })
    }

    /// Returns a [`bedrock`](Self::bedrock) builder with the settings of AWS's own tools. Credentials are the first
    /// available of `AWS_BEARER_TOKEN_BEDROCK`, the profile in `AWS_PROFILE`, the keys in `AWS_ACCESS_KEY_ID` and
    /// `AWS_SECRET_ACCESS_KEY`, and the profile `default`; the region is that of `AWS_REGION`, `AWS_DEFAULT_REGION`, or
    /// of the profile. `ANTHROPIC_BEDROCK_BASE_URL` is the address of another host than Amazon's, with or without
    /// `/anthropic` at its end.
    ///
    /// # Errors
    /// `Configuration` if no region is named.
    #[cfg(feature = "bedrock")]
    pub fn bedrock_from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<AnthropicBuilder, ModelError> {
        let access = windlass_http::provider::AwsAccess::from_lookup(&lookup);
        let region = access.region.ok_or_else(|| missing("region: set AWS_REGION, or that of the profile"))?;
        let mut builder = Self::bedrock(region).lookup(&lookup);
        if let Some(credentials) = access.credentials {
            builder = builder.credentials(credentials);
        }
        if let Some(url) = first(&lookup, &["ANTHROPIC_BEDROCK_BASE_URL"]) {
            let base = url.trim_end_matches('/');
            let path = if base.ends_with("/anthropic") { "" } else { "/anthropic" };
            builder = builder.base_url(format!("{base}{path}"));
        }
        Ok(builder)
    }

    /// Returns a [`vertex`](Self::vertex) builder with the settings of the vendors' own tools: the project in
    /// `ANTHROPIC_VERTEX_PROJECT_ID`, `GOOGLE_CLOUD_PROJECT` or `GCLOUD_PROJECT`, the region in `CLOUD_ML_REGION` or
    /// `GOOGLE_CLOUD_LOCATION`, the address, with `/v1`, in `ANTHROPIC_VERTEX_BASE_URL`, and the credentials that
    /// `GOOGLE_APPLICATION_CREDENTIALS` names, else those of the user who signed in with `gcloud auth
    /// application-default login`.
    ///
    /// # Errors
    /// `Configuration` if no project or no region is named; `Authentication` if no variable names the place of
    /// credentials.
    pub fn vertex_from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<AnthropicBuilder, ModelError> {
        const PROJECT: [&str; 3] = ["ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"];
        let project = first(&lookup, &PROJECT);
        let project = project.ok_or_else(|| missing("project of Google Cloud: set GOOGLE_CLOUD_PROJECT"))?;
        let region = first(&lookup, &["CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION"]);
        let region = region.ok_or_else(|| missing("region: set CLOUD_ML_REGION, for example to `global`"))?;
        let builder = Self::vertex(project, region).lookup(&lookup).credentials(google_credentials(&lookup)?);
        Ok(match first(&lookup, &["ANTHROPIC_VERTEX_BASE_URL"]) {
            Some(url) => builder.base_url(url),
            None => builder,
        })
    }
}

/// Returns the value of the first variable that has one.
fn first(lookup: &impl Fn(&str) -> Option<String>, names: &[&str]) -> Option<String> {
    let value = |name: &&str| lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    names.iter().find_map(value)
}

fn missing(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, format!("no {what}")).unbilled()
}
