//! The key `models`: a user's settings of models.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use windlass_types::NanoUsd;
use windlass_types::near::nearest;

/// Settings of a model in a settings file, or of all models whose names begin with the key. Prices are for one token.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelSettings {
    /// Size of the context window in tokens: input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Maximum number of output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Default number of requested output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_output_tokens: Option<u32>,
    /// Maximum number of images and documents of one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_images: Option<u32>,
    /// Price of uncached input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_price: Option<NanoUsd>,
    /// Price of output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_price: Option<NanoUsd>,
    /// Price of input read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_price: Option<NanoUsd>,
    /// Price of input written to the cache for five minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_price: Option<NanoUsd>,
    /// Price of input written to the cache for one hour.
    #[serde(rename = "cacheWrite1hPrice", skip_serializing_if = "Option::is_none")]
    pub cache_write_1h_price: Option<NanoUsd>,
    /// Aliases of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

const MODEL_KEYS: [&str; 10] = [
    "contextWindow",
    "maxOutputTokens",
    "defaultOutputTokens",
    "maxImages",
    "inputPrice",
    "outputPrice",
    "cacheReadPrice",
    "cacheWritePrice",
    "cacheWrite1hPrice",
    "aliases",
];

/// Maximum price of a million tokens, in dollars. A higher value is a mistake of the unit.
const MAX_PRICE_PER_MILLION: u64 = 1_000_000;

/// The models of a file, by name or the beginning of names.
#[derive(Debug, Default)]
pub(super) struct Models(pub(super) BTreeMap<String, ModelSettings>);

impl<'de> Deserialize<'de> for Models {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let Value::Object(models) = value else {
            return Err(D::Error::custom("`models` must be an object of models by name"));
        };
        let read = models.into_iter().map(|(name, values)| {
            let Value::Object(values) = values else {
                return Err(D::Error::custom(format_args!("`models.{name}` must be an object")));
            };
            if name.trim().is_empty() {
                return Err(D::Error::custom("`models` has a model without a name"));
            }
            let settings = ModelSettings::read(&values)
                .map_err(|(key, problem)| D::Error::custom(format_args!("`models.{name}.{key}` {problem}")))?;
            Ok((name.trim().to_owned(), settings))
        });
        Ok(Self(read.collect::<Result<_, _>>()?))
    }
}

type Problem<'a> = (&'a str, String);

impl ModelSettings {
    fn read(values: &Map<String, Value>) -> Result<Self, Problem<'_>> {
        let mut settings = Self::default();
        for (key, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            settings.set(key, value).map_err(|problem| (key.as_str(), problem))?;
        }
        Ok(settings)
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        match key {
            "contextWindow" => self.context_window = Some(tokens(value)?),
            "maxOutputTokens" => self.max_output_tokens = Some(output_tokens(value)?),
            "defaultOutputTokens" => self.default_output_tokens = Some(output_tokens(value)?),
            "maxImages" => self.max_images = Some(images(value)?),
            "inputPrice" => self.input_price = Some(price(value)?),
            "outputPrice" => self.output_price = Some(price(value)?),
            "cacheReadPrice" => self.cache_read_price = Some(price(value)?),
            "cacheWritePrice" => self.cache_write_price = Some(price(value)?),
            "cacheWrite1hPrice" => self.cache_write_1h_price = Some(price(value)?),
            "aliases" => self.aliases = aliases(value)?,
            other => {
                let near = nearest(other, MODEL_KEYS);
                let meant = near.first().map(|near| format!(": did you mean `{near}`?"));
                return Err(format!(
                    "is not known{}",
                    meant.unwrap_or_else(|| format!(": there are {}", MODEL_KEYS.join(", ")))
                ));
            }
        }
        Ok(())
    }
}

fn tokens(value: &Value) -> Result<u64, String> {
    value.as_u64().filter(|tokens| *tokens > 0).ok_or_else(|| "must be a whole number of tokens above zero".to_owned())
}

fn output_tokens(value: &Value) -> Result<u32, String> {
    u32::try_from(tokens(value)?).map_err(|_| "is more tokens than a model can write".to_owned())
}

fn images(value: &Value) -> Result<u32, String> {
    let count = value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
    count.ok_or_else(|| "must be a whole number of images above zero".to_owned())
}

/// Converts a price in dollars per million tokens to the price of one token.
fn price(value: &Value) -> Result<NanoUsd, String> {
    let problem = || "must be an amount in US dollars for a million tokens, such as 2.50".to_owned();
    let Value::Number(number) = value else { return Err(problem()) };
    let price = NanoUsd::per_token(&number.to_string()).ok_or_else(problem)?;
    if price > NanoUsd::new(MAX_PRICE_PER_MILLION * 1_000) {
        return Err(format!(
            "is more than {MAX_PRICE_PER_MILLION} dollars for a million tokens: it is not the price of one token"
        ));
    }
    Ok(price)
}

fn aliases(value: &Value) -> Result<Vec<String>, String> {
    let problem = || "must be a name or a list of names".to_owned();
    let names = match value {
        Value::String(name) => vec![name.trim().to_owned()],
        Value::Array(names) => {
            let names = names.iter().map(|name| name.as_str().map(|name| name.trim().to_owned()));
            names.collect::<Option<Vec<_>>>().ok_or_else(problem)?
        }
        _ => return Err(problem()),
    };
    if names.iter().any(String::is_empty) { Err(problem()) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        serde_json::from_str::<Models>(text).unwrap_err().to_string()
    }

    #[test]
    fn models_are_read() {
        let text = r#"{"openai/my-model": {"contextWindow": 64000, "maxOutputTokens": 4000, "inputPrice": 0.0375,
            "outputPrice": 1.5, "cacheReadPrice": null, "cacheWrite1hPrice": 3, "aliases": ["fast", "cheap"]},
            "llama": {"aliases": "small", "maxImages": 1}}"#;
        let models = serde_json::from_str::<Models>(text).unwrap().0;
        let mine = &models["openai/my-model"];
        assert_eq!(
            (mine.context_window, mine.max_output_tokens, mine.default_output_tokens),
            (Some(64_000), Some(4_000), None)
        );
        assert_eq!(mine.input_price, Some(NanoUsd::new(38)));
        assert_eq!((mine.output_price, mine.cache_read_price), (Some(NanoUsd::new(1_500)), None));
        assert_eq!(mine.cache_write_1h_price, Some(NanoUsd::new(3_000)));
        assert_eq!(mine.aliases, ["fast", "cheap"]);
        assert_eq!((&*models["llama"].aliases, models["llama"].max_images), (&["small".to_owned()][..], Some(1)));
        assert_eq!(mine.max_images, None);
    }

    #[test]
    fn errors_name_the_key_and_the_one_that_was_meant() {
        for (text, expected) in [
            ("[]", "`models` must be an object of models by name"),
            (r#"{"m": 1}"#, "`models.m` must be an object"),
            (r#"{" ": {}}"#, "`models` has a model without a name"),
            (r#"{"m": {"contextwindow": 1}}"#, "`models.m.contextwindow` is not known: did you mean `contextWindow`?"),
            (r#"{"m": {"inputPrise": 1}}"#, "`models.m.inputPrise` is not known: did you mean `inputPrice`?"),
            (r#"{"m": {"colour": 1}}"#, "`models.m.colour` is not known: there are contextWindow, "),
            (r#"{"m": {"maxImages": 0}}"#, "`models.m.maxImages` must be a whole number of images above zero"),
            (r#"{"m": {"contextWindow": 0}}"#, "`models.m.contextWindow` must be a whole number of tokens above zero"),
            (r#"{"m": {"contextWindow": "1"}}"#, "`models.m.contextWindow` must be a whole number"),
            (r#"{"m": {"maxOutputTokens": 5000000000}}"#, "`models.m.maxOutputTokens` is more tokens"),
            (
                r#"{"m": {"inputPrice": -1}}"#,
                "`models.m.inputPrice` must be an amount in US dollars for a million tokens",
            ),
            (r#"{"m": {"outputPrice": "3"}}"#, "`models.m.outputPrice` must be an amount"),
            (r#"{"m": {"outputPrice": 1e7}}"#, "`models.m.outputPrice` is more than 1000000 dollars"),
            (r#"{"m": {"aliases": [1]}}"#, "`models.m.aliases` must be a name or a list of names"),
            (r#"{"m": {"aliases": ""}}"#, "`models.m.aliases` must be a name or a list of names"),
        ] {
            let problem = problem(text);
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
