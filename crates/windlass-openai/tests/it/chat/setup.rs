//! Setup of providers.

use super::*;
use std::collections::HashMap;
use windlass_openai::{Auth, Compat, Endpoint, Strict};
use windlass_testkit::wire::RecordedRequest;
use windlass_types::ModelErrorKind;

fn lookup<'a>(variables: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<'a> {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    move |name| variables.get(name).map(|value| (*value).to_owned())
}

async fn recorded(server: &WireServer, provider: &ChatCompletions, request: ModelRequest) -> RecordedRequest {
    server.push(reply(&[content("ok"), finish("stop")]));
    assert!(ask(provider, request).await.1.is_none());
    server.requests().pop().unwrap()
}

#[tokio::test]
async fn a_preset_reads_the_variables_of_its_vendor() {
    let server = WireServer::start().await.unwrap();
    let url = server.url();
    let provider = ChatCompletions::from_lookup(
        "deepseek",
        lookup(&[("DEEPSEEK_API_KEY", " sk-1\n"), ("DEEPSEEK_BASE_URL", &url)]),
    )
    .unwrap();
    assert_eq!(provider.name(), "deepseek");
    let sent = recorded(&server, &provider, request()).await;
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/chat/completions"));
    assert_eq!(sent.header("authorization"), Some("Bearer sk-1"));
    assert_eq!(sent.header("accept"), Some("text/event-stream"));
    assert_eq!(sent.header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn azure_has_its_own_header_and_path() {
    let server = WireServer::start().await.unwrap();
    let url = server.url();
    let variables = [("AZURE_OPENAI_API_KEY", "k"), ("AZURE_OPENAI_ENDPOINT", url.as_str())];
    let provider = ChatCompletions::from_lookup("azure", lookup(&variables)).unwrap();
    let sent = recorded(&server, &provider, request()).await;
    assert_eq!(sent.path, "/openai/v1/chat/completions");
    assert_eq!((sent.header("api-key"), sent.header("authorization")), (Some("k"), None));
    let older = ChatCompletions::preset("azure").unwrap().api_key("k").base_url(format!("{url}/openai/deployments/x"));
    let older = older
        .compat(|compat| compat.transport.path = "/chat/completions?api-version=2024-10-21".into())
        .build()
        .unwrap();
    let path = recorded(&server, &older, request()).await.path;
    assert_eq!(path, "/openai/deployments/x/chat/completions?api-version=2024-10-21");
}

#[tokio::test]
async fn openai_compatible_has_the_profile_that_its_address_tells() {
    let of = |variables: &[(&str, &str)]| ChatCompletions::openai_compatible_from_lookup(lookup(variables));
    let key = ("OPENAI_API_KEY", "k");
    assert_eq!(of(&[key]).unwrap().name(), "openai");
    assert_eq!(of(&[key, ("OPENAI_BASE_URL", "https://api.groq.com/openai/v1")]).unwrap().name(), "groq");
    let own = of(&[("OPENAI_BASE_URL", "http://10.0.0.1:8000/v1")]).unwrap();
    assert_eq!(own.name(), "openai-compatible");
    let mut careful = Compat::default();
    careful.transport.key_optional = true;
    assert_eq!(own.compat(), &careful);
    let error = of(&[]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Authentication);
    assert!(error.message.contains("OPENAI_API_KEY"), "{error}");
}

#[tokio::test]
async fn an_endpoint_is_one_row_of_data() {
    let server = WireServer::start().await.unwrap();
    let row = JsonText::parse(format!(
        r#"{{"name":"acme","base_url":"{}/v2","key_variables":["ACME_KEY"],
            "compat":{{"transport":{{"auth":{{"header":"x-acme"}},"session_header":"x-session"}},"tools":{{"strict":"per_tool"}}}}}}"#,
        server.url()
    ));
    let endpoint: Endpoint = row.unwrap().to().unwrap();
    assert_eq!(endpoint.compat.tools.strict, Strict::PerTool);
    assert_eq!(endpoint.compat.transport.auth, Auth::Header("x-acme".into()));
    let provider = ChatCompletions::builder().endpoint(endpoint).lookup(lookup(&[("ACME_KEY", "k")])).build().unwrap();
    let mut request = request();
    request.session_key = Some("session-1".into());
    let sent = recorded(&server, &provider, request).await;
    assert_eq!((sent.path.as_str(), sent.header("x-acme")), ("/v2/chat/completions", Some("k")));
    assert_eq!(sent.header("x-session"), Some("session-1"));
    assert_eq!(provider.model_info("m").api.to_string(), "acme/chat-completions");
}

#[test]
fn settings_are_merged_over_a_preset_and_wrong_ones_are_named() {
    let settings = |text: &str| preset("deepseek").compat_settings(JsonText::parse(text).unwrap()).build();
    let compat =
        settings(r#"{"messages":{"images":true},"reasoning":{"efforts":[["low","tiny"]]}}"#).unwrap().compat().clone();
    let mut expected = preset("deepseek").build().unwrap().compat().clone();
    expected.messages.images = true;
    expected.reasoning.efforts = vec![(windlass_types::Effort::Low, "tiny".into())].into();
    assert_eq!(compat, expected);
    for (wrong, says) in [
        (r#"{"messages":{"imagse":true}}"#, "imagse"),
        (r#"{"tools":{"strict":"maybe"}}"#, "maybe"),
        ("[]", "a list"),
        (r#"{"tools":[]}"#, "a list"),
    ] {
        let error = settings(wrong).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Configuration);
        assert!(error.message.contains(says), "{error}");
    }
}

#[test]
fn every_profile_survives_its_settings() {
    for name in Endpoint::preset_names() {
        let endpoint = Endpoint::preset(name).unwrap();
        let json = JsonText::of(&endpoint).unwrap();
        assert_eq!(json.to::<Endpoint>().unwrap(), endpoint);
        assert_eq!(endpoint.compat.with_settings(&JsonText::empty_object()).unwrap(), endpoint.compat);
    }
}

#[test]
fn set_ups_that_cannot_work_say_what_to_do() {
    let error = ChatCompletions::preset("deepsek").unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Configuration);
    assert!(error.message.contains("deepseek"), "{error}");
    for (builder, kind, says) in [
        (ChatCompletions::preset("mistral").unwrap(), ModelErrorKind::Authentication, "MISTRAL_API_KEY"),
        (preset("mistral").api_key(" "), ModelErrorKind::Authentication, "MISTRAL_API_KEY"),
        (preset("mistral").api_key("a\u{1}secret-9"), ModelErrorKind::Configuration, "key"),
        (preset("azure"), ModelErrorKind::Configuration, "AZURE_OPENAI_ENDPOINT"),
        (preset("vllm").base_url("localhost"), ModelErrorKind::Configuration, "base URL"),
        (preset("vllm").header("Host", "secret-9"), ModelErrorKind::Configuration, "Host"),
        (preset("vllm").header("a b", "secret-9"), ModelErrorKind::Configuration, "a b"),
        (preset("vllm").header("x-a", ""), ModelErrorKind::Configuration, "no value"),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(says), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret-9"));
    }
}

#[tokio::test]
async fn custom_headers_win_and_keys_are_never_shown() {
    let server = WireServer::start().await.unwrap();
    let builder = preset("openai").header("Authorization", "Basic abc").header("x-team", "one");
    let provider = builder.base_url(server.url()).build().unwrap();
    let sent = recorded(&server, &provider, request()).await;
    assert_eq!((sent.header("authorization"), sent.header("x-team")), (Some("Basic abc"), Some("one")));
    assert!(!format!("{provider:?}").contains(KEY));
}

#[tokio::test]
async fn organization_project_and_token_come_from_the_variables_of_the_vendors_libraries() {
    let server = WireServer::start().await.unwrap();
    let url = server.url().to_owned();
    let openai = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_ORGANIZATION", "org-1"),
        ("OPENAI_PROJECT_ID", "proj-1"),
    ];
    let sent = recorded(&server, &ChatCompletions::from_lookup("openai", lookup(&openai)).unwrap(), request()).await;
    assert_eq!(sent.header("openai-organization"), Some("org-1"));
    assert_eq!(sent.header("openai-project"), Some("proj-1"));
    let other = [("VLLM_BASE_URL", url.as_str()), ("OPENAI_ORG_ID", "org-1"), ("OPENAI_PROJECT_ID", "proj-1")];
    let sent = recorded(&server, &ChatCompletions::from_lookup("vllm", lookup(&other)).unwrap(), request()).await;
    assert_eq!((sent.header("openai-organization"), sent.header("openai-project")), (None, None));
    let azure = [("AZURE_OPENAI_ENDPOINT", url.as_str()), ("AZURE_OPENAI_AD_TOKEN", "entra")];
    let sent = recorded(&server, &ChatCompletions::from_lookup("azure", lookup(&azure)).unwrap(), request()).await;
    assert_eq!((sent.header("authorization"), sent.header("api-key")), (Some("Bearer entra"), None));
    let both = [azure[0], azure[1], ("AZURE_OPENAI_API_KEY", "k")];
    let sent = recorded(&server, &ChatCompletions::from_lookup("azure", lookup(&both)).unwrap(), request()).await;
    assert_eq!((sent.header("authorization"), sent.header("api-key")), (None, Some("k")));
}

/// Only the server knows the window of the model that it has loaded.
#[tokio::test]
async fn a_server_of_the_user_is_asked_for_its_window() {
    let server = WireServer::start().await.unwrap();
    let url = format!("{}/v1", server.url());
    let list =
        |members: &str| Reply::status(200, format!(r#"{{"object":"list","data":[{{"id":"gemma",{members}}}]}}"#));
    let provider = ChatCompletions::from_lookup("llama.cpp", lookup(&[("LLAMA_CPP_BASE_URL", &url)])).unwrap();
    assert_eq!(provider.model_info("gemma").context_window, 128_000);
    server.push(list(r#""meta":{"n_ctx":12288,"n_ctx_train":32768}"#));
    provider.prepare("gemma").await;
    assert_eq!(server.requests().pop().unwrap().path, "/v1/models");
    // The server has one model, whatever its name in the request.
    for model in ["gemma", "default"] {
        let info = provider.model_info(model);
        assert_eq!((info.context_window, info.max_output_tokens), (12_288, 6_144), "{model}");
    }
    provider.prepare("gemma").await;
    assert_eq!(server.request_count(), 1, "it is asked once");
    server.push(list(r#""max_model_len":8192"#));
    let listed = provider.server_models().await.unwrap();
    assert_eq!((listed[0].context_window, listed[0].info.context_window), (Some(8_192), 8_192));
    // A vendor's own endpoint is not asked, nor one whose model the user describes.
    let groq = preset("groq").base_url(&url).api_key("k").build().unwrap();
    groq.prepare("some-model").await;
    assert_eq!(server.request_count(), 2);
    // A server that does not report a window changes nothing.
    let other = ChatCompletions::from_lookup("vllm", lookup(&[("VLLM_BASE_URL", &url)])).unwrap();
    server.push(Reply::status(500, "no"));
    other.prepare("m").await;
    assert_eq!(other.model_info("m").context_window, 128_000);
}

/// Waiting does not help with an absent server on this machine.
#[tokio::test]
async fn a_server_of_this_machine_that_is_not_there_is_named_and_not_waited_for() {
    let gone = WireServer::start().await.unwrap().url();
    tokio::task::yield_now().await;
    for (name, variable, says) in [
        ("ollama", "OLLAMA_HOST", "is Ollama running? OLLAMA_HOST names another address"),
        ("llama.cpp", "LLAMA_CPP_BASE_URL", "is llama.cpp running? LLAMA_CPP_BASE_URL names another address"),
    ] {
        let provider = ChatCompletions::from_lookup(name, lookup(&[(variable, &gone)])).unwrap();
        let (_, error) = ask(&provider, request()).await;
        let error = error.unwrap();
        assert_eq!((error.kind, error.should_retry, error.unbilled), (ModelErrorKind::Connection, Some(false), true));
        assert!(error.message.ends_with(says), "{error}");
    }
}
