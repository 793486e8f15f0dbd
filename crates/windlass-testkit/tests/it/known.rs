//! Findings of the kit on listed models.

use async_trait::async_trait;
use std::sync::Arc;
use windlass_model::{
    KnownModel, LongPrompt, ModelError, ModelInfo, ModelProvider, ModelRow, ModelSource, ModelStream, Price,
    ScriptedModel, ScriptedTurn,
};
use windlass_testkit::provider::lists_models;
use windlass_types::ModelRequest;

const PAGE: ModelSource = ModelSource::new("https://a.example/models", "2026-11-23");
const ROW: ModelRow = ModelRow::new("m", PAGE).limits(10_000, 1_000).price(Price::new(10, 50)).aliases(&["fast"]);

/// A provider that lists the given models, and knows one model.
#[derive(Debug)]
struct Listing(Vec<KnownModel>, ModelInfo);

#[async_trait]
impl ModelProvider for Listing {
    fn name(&self) -> &str {
        "listing"
    }

    fn resolve_model(&self, name: &str) -> String {
        if matches!(name, "fast" | "default") { "m".to_owned() } else { name.to_owned() }
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        if model == "m" { self.1.clone() } else { ModelInfo::new(10_000, 10) }
    }

    fn known_models(&self) -> Vec<KnownModel> {
        self.0.clone()
    }

    async fn stream(&self, _: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        Ok(Box::pin(futures_util::stream::empty()))
    }

    async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
        Ok(0)
    }
}

fn known() -> KnownModel {
    ROW.known(ROW.info())
}

fn found(models: Vec<KnownModel>) -> String {
    found_with(models, ROW.info())
}

fn found_with(models: Vec<KnownModel>, info: ModelInfo) -> String {
    lists_models(&Listing(models, info)).err().map(|violation| violation.to_string()).unwrap_or_default()
}

#[test]
fn providers_that_list_what_they_have_pass() {
    assert_eq!(found(vec![known()]), "");
    // A scripted model supports any name, and knows no price.
    lists_models(&ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("hello"))).unwrap();
}

#[test]
fn each_broken_promise_is_found() {
    let changed = |change: fn(&mut KnownModel)| {
        let mut known = known();
        change(&mut known);
        found(vec![known])
    };
    assert!(found(Vec::new()).contains("no model is listed"));
    assert!(found(vec![known(), known()]).contains("\"m\" is listed twice"));
    assert!(changed(|known| known.id = "fast".to_owned()).contains("fast is listed, but resolves to m"));
    assert!(changed(|known| known.info.context_window = 7).contains("other figures"));
    assert!(
        changed(|known| known.aliases.push("slow".to_owned())).contains("slow is listed for m, but stands for slow")
    );
    assert!(changed(|known| known.max_output_tokens = Some(20_000)).contains("more than its window"));
    assert!(changed(|known| known.source = Some(ModelSource::new("a book", "today"))).contains("is no page"));
    let mut unordered = known();
    unordered.info.long_prompts = vec![LongPrompt::new(5, Price::new(1, 1)), LongPrompt::new(5, Price::new(1, 1))];
    let info = unordered.info.clone();
    assert!(found_with(vec![unordered], info).contains("not in order"));
}
