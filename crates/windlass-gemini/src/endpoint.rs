//! Addresses of the two services that speak the dialect.

use windlass_http::provider::escape_segment;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Service, without its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GeminiEndpoint {
    /// The Gemini API.
    Gemini,
    /// Vertex AI.
    Vertex { project: String, location: String },
}

/// Operation on a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelMethod {
    Stream,
    CountTokens,
}

impl ModelMethod {
    fn suffix(self) -> &'static str {
        match self {
            Self::Stream => ":streamGenerateContent?alt=sse",
            Self::CountTokens => ":countTokens",
        }
    }
}

impl GeminiEndpoint {
    /// Returns the public address.
    pub(crate) fn base_url(&self) -> String {
        match self {
            Self::Gemini => "https://generativelanguage.googleapis.com".to_owned(),
            Self::Vertex { location, .. } => match location.as_str() {
                "global" => "https://aiplatform.googleapis.com".to_owned(),
                "us" | "eu" => format!("https://aiplatform.{location}.rep.googleapis.com"),
                _ => format!("https://{location}-aiplatform.googleapis.com"),
            },
        }
    }

    /// Returns the path of a method of a model.
    ///
    /// # Errors
    /// Fails if the name is no valid model name.
    pub(crate) fn path(&self, model: &str, method: ModelMethod) -> Result<String, ModelError> {
        let mut path = match self {
            Self::Gemini => "/v1beta".to_owned(),
            Self::Vertex { .. } => "/v1beta1".to_owned(),
        };
        let name = self.resource(model);
        for segment in name.split('/') {
            if matches!(segment, "" | "." | "..") {
                return Err(ModelError::new(ModelErrorKind::NotFound, format!("{model:?} is no name of a model")));
            }
            path.push('/');
            escape_segment(segment, &mut path);
        }
        path.push_str(method.suffix());
        Ok(path)
    }

    /// Returns the full name of a model, as used in paths and token counts.
    pub(crate) fn resource(&self, model: &str) -> String {
        match self {
            Self::Gemini if model.contains('/') => model.to_owned(),
            Self::Gemini => format!("models/{model}"),
            Self::Vertex { .. } if model.starts_with("projects/") => model.to_owned(),
            Self::Vertex { project, location } => {
                let publisher = if model.starts_with("publishers/") { "" } else { "publishers/google/models/" };
                format!("projects/{project}/locations/{location}/{publisher}{model}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_paths() {
        let path = |endpoint: &GeminiEndpoint, model: &str| endpoint.path(model, ModelMethod::Stream).unwrap();
        let stream = ":streamGenerateContent?alt=sse";
        let gemini = GeminiEndpoint::Gemini;
        assert_eq!(path(&gemini, "gemini-2.5-pro"), format!("/v1beta/models/gemini-2.5-pro{stream}"));
        assert_eq!(path(&gemini, "tunedModels/x"), format!("/v1beta/tunedModels/x{stream}"));
        assert_eq!(path(&gemini, "a b?c#d:e"), format!("/v1beta/models/a%20b%3Fc%23d%3Ae{stream}"));
        let vertex = GeminiEndpoint::Vertex { project: "p".to_owned(), location: "eu".to_owned() };
        let of_project = "/v1beta1/projects/p/locations/eu/publishers";
        assert_eq!(path(&vertex, "gemini-2.5-pro"), format!("{of_project}/google/models/gemini-2.5-pro{stream}"));
        assert_eq!(path(&vertex, "publishers/x/models/y"), format!("{of_project}/x/models/y{stream}"));
        assert_eq!(
            path(&vertex, "projects/p/locations/l/endpoints/1"),
            format!("/v1beta1/projects/p/locations/l/endpoints/1{stream}")
        );
        for name in ["..", "models/../x", "", "models/", "a//b"] {
            assert_eq!(
                gemini.path(name, ModelMethod::CountTokens).unwrap_err().kind,
                ModelErrorKind::NotFound,
                "{name}"
            );
        }
    }

    #[test]
    fn locations_have_their_hosts() {
        let host = |location: &str| {
            GeminiEndpoint::Vertex { project: "p".to_owned(), location: location.to_owned() }.base_url()
        };
        assert_eq!(host("global"), "https://aiplatform.googleapis.com");
        assert_eq!(host("eu"), "https://aiplatform.eu.rep.googleapis.com");
        assert_eq!(host("europe-west4"), "https://europe-west4-aiplatform.googleapis.com");
    }
}
