//! Claude on Vertex AI: the model is in the address, the version in the body.

use windlass_http::provider::{escape_segment, from_http};
use windlass_http::{HttpClient, HttpOptions};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

use super::{PlatformMethod, PlatformRoute, check_name, renamed};

pub(super) const VERSION: &str = "vertex-2023-10-16";

/// Models whose ids on Vertex AI have a date. Source: Google Cloud, "Request predictions with Claude models",
/// <https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude>.
const DATED: &[(&str, &str)] = &[
    ("claude-opus-4-5", "claude-opus-4-5@20251101"),
    ("claude-opus-4-1", "claude-opus-4-1@20250805"),
    ("claude-opus-4", "claude-opus-4@20250514"),
    ("claude-sonnet-4-5", "claude-sonnet-4-5@20250929"),
    ("claude-sonnet-4", "claude-sonnet-4@20250514"),
    ("claude-haiku-4-5", "claude-haiku-4-5@20251001"),
];

#[derive(Debug)]
pub(crate) struct Vertex {
    client: HttpClient,
    project: String,
    region: String,
}

impl Vertex {
    /// Creates the service in a region of a project. A base URL includes its version, as in the vendor's own programs.
    pub(crate) fn new(
        project: String,
        region: String,
        base_url: Option<&str>,
        options: HttpOptions,
    ) -> Result<Self, ModelError> {
        check_name("project", &project, b"_:.")?;
        check_name("region", &region, b"")?;
        let client = match base_url {
            Some(url) => HttpClient::new(url, options),
            None => HttpClient::new(&base_url_of(&region), options),
        };
        Ok(Self { client: client.map_err(from_http)?, project, region })
    }

    pub(super) fn host(&self) -> &str {
        self.client.host()
    }

    pub(super) fn route(&self, model: &str, method: PlatformMethod) -> Result<PlatformRoute, ModelError> {
        let Self { project, region, .. } = self;
        let mut path = format!("/projects/{project}/locations/{region}/publishers/anthropic/models/");
        match method {
            PlatformMethod::CountTokens => path.push_str("count-tokens:rawPredict"),
            PlatformMethod::Stream => {
                let id = windlass_model::Catalogue::wire_id(model);
                if matches!(id, "" | "." | "..") {
                    let text = format!("{model:?} is no name of a model");
                    return Err(ModelError::new(ModelErrorKind::NotFound, text).unbilled());
                }
                escape_segment(id, &mut path);
                path.push_str(":streamRawPredict");
            }
        }
        Ok(PlatformRoute::new(self.client.clone(), path))
    }
}

fn base_url_of(region: &str) -> String {
    match region {
        "global" => "https://aiplatform.googleapis.com/v1".to_owned(),
        "us" | "eu" => format!("https://aiplatform.{region}.rep.googleapis.com/v1"),
        _ => format!("https://{region}-aiplatform.googleapis.com/v1"),
    }
}

pub(super) fn id(model: String) -> String {
    let dated = |base: &str| DATED.iter().find(|(id, _)| *id == base).map(|(_, dated)| (*dated).to_owned());
    renamed(&model, dated).unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_have_their_hosts() {
        assert_eq!(base_url_of("global"), "https://aiplatform.googleapis.com/v1");
        assert_eq!(base_url_of("eu"), "https://aiplatform.eu.rep.googleapis.com/v1");
        assert_eq!(base_url_of("us-east5"), "https://us-east5-aiplatform.googleapis.com/v1");
    }

    #[test]
    fn the_model_is_one_segment_of_the_path() {
        let vertex =
            Vertex::new("p-1".into(), "eu".into(), Some("http://127.0.0.1/v1"), HttpOptions::default()).unwrap();
        let path = |model: &str, method| vertex.route(model, method).map(|route| route.path);
        let models = "/projects/p-1/locations/eu/publishers/anthropic/models";
        assert_eq!(
            path("claude-sonnet-4-5@20250929[1m]", PlatformMethod::Stream).unwrap(),
            format!("{models}/claude-sonnet-4-5@20250929:streamRawPredict")
        );
        assert_eq!(
            path("a/../b:c;d", PlatformMethod::Stream).unwrap(),
            format!("{models}/a%2F..%2Fb%3Ac%3Bd:streamRawPredict")
        );
        assert_eq!(path("..", PlatformMethod::Stream).unwrap_err().kind, ModelErrorKind::NotFound);
        assert_eq!(path("x", PlatformMethod::CountTokens).unwrap(), format!("{models}/count-tokens:rawPredict"));
    }

    #[test]
    fn ids_have_the_form_of_the_cloud() {
        for (model, expected) in [
            ("claude-opus-5-5", "claude-opus-5-5"),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5@20250929[1m]"),
            ("claude-haiku-4-5@20251001", "claude-haiku-4-5@20251001"),
            ("something", "something"),
        ] {
            assert_eq!(id(model.to_owned()), expected);
        }
    }

    #[test]
    fn names_that_change_the_address_are_refused() {
        for (project, region) in
            [("", "us"), ("p/q", "us"), ("p", ""), ("p", "evil.example#"), ("p", "a/b"), ("..", "us")]
        {
            let built = Vertex::new(project.into(), region.into(), None, HttpOptions::default());
            assert_eq!(built.unwrap_err().kind, ModelErrorKind::Configuration, "{project:?} {region:?}");
        }
        assert!(
            Vertex::new("domain.com:p_1".into(), "us-east5".into(), Some("http://h"), HttpOptions::default()).is_ok()
        );
    }
}
