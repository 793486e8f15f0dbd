//! Providers of clouds behind the router, set up from variables.

use std::sync::Arc;
use windlass::options::ModelOptions;
use windlass::provider::{Api, Message, ModelErrorKind, ModelRequest, Router, from_lookup};
use windlass::{Error, ModelProvider, session};
use windlass_testkit::wire::{Answer, Dialect, Message as WireMessage, WireServer};

fn router(variables: &[(&str, &str)]) -> Router {
    let variables: Vec<_> = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    from_lookup(move |name| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
}

#[tokio::test]
async fn bedrock_is_a_prefix_and_may_have_the_bare_names() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|_| WireMessage::new().text("ok").into());
    let url = server.url();
    let set = |more: &[(&str, &str)]| {
        let bedrock =
            [("AWS_REGION", "eu-west-1"), ("AWS_BEARER_TOKEN_BEDROCK", "key-1"), ("ANTHROPIC_BEDROCK_BASE_URL", &*url)];
        router(&[&bedrock, more].concat())
    };
    for (router, name, id) in [
        (set(&[]), "bedrock/opus", "bedrock/eu.anthropic.claude-opus-5-5"),
        (set(&[("CLAUDE_CODE_USE_BEDROCK", "1")]), "opus", "eu.anthropic.claude-opus-5-5"),
    ] {
        assert_eq!(router.resolve_model(name), id);
        router.ready(name).unwrap();
        assert_eq!(router.model_info(id).api, Api::new("bedrock", Api::MESSAGES));
        let request = ModelRequest::new(id, vec![Message::user_text("hi").into()], 100);
        drop(router.stream(Arc::new(request)).await.unwrap());
        let sent = server.requests().pop().unwrap();
        assert_eq!(
            (sent.path.as_str(), sent.header("authorization")),
            ("/anthropic/v1/messages", Some("Bearer key-1"))
        );
        assert_eq!(sent.json().unwrap()["model"], "eu.anthropic.claude-opus-5-5");
    }
    // A switch that is off changes nothing.
    let off = set(&[("CLAUDE_CODE_USE_BEDROCK", "0")]);
    assert_eq!(off.ready("opus").unwrap_err().kind, ModelErrorKind::Authentication);
    assert_eq!(off.prefixes().next(), Some("anthropic"));
}

#[tokio::test]
async fn bedrock_has_claude_and_all_others() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|request| match request.path.ends_with("/converse-stream") {
        true => Dialect::Converse.answer(request, |asked| Answer::new(&asked.model).text(["ok"])),
        false => WireMessage::new().text("ok").into(),
    });
    let url = server.url() + "/anthropic/";
    let bedrock = router(&[
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "aws-secret-key"),
        ("ANTHROPIC_BEDROCK_BASE_URL", &url),
    ]);
    for (name, api, path) in [
        ("bedrock/opus", Api::MESSAGES, "/anthropic/v1/messages"),
        ("bedrock/nova-pro", Api::CONVERSE, "/model/eu.amazon.nova-pro-v1%3A0/converse-stream"),
        ("bedrock/openai.gpt-oss-120b-1:0", Api::CONVERSE, "/model/openai.gpt-oss-120b-1%3A0/converse-stream"),
    ] {
        let id = bedrock.resolve_model(name);
        bedrock.ready(&id).unwrap();
        assert_eq!(bedrock.model_info(&id).api, Api::new("bedrock", api), "{name}");
        let request = ModelRequest::new(id, vec![Message::user_text("hi").into()], 100);
        drop(bedrock.stream(Arc::new(request)).await.unwrap());
        let sent = server.requests().pop().unwrap();
        assert_eq!(sent.path, path);
        assert!(sent.header("authorization").unwrap().contains("/eu-west-1/bedrock/"), "{sent:?}");
    }
    // With the chain, keys may come from the machine, which is not asked yet.
    let ready = router(&[("AWS_REGION", "eu-west-1")]).ready("bedrock/nova-pro");
    let expected = (!cfg!(feature = "aws-chain")).then_some(ModelErrorKind::Authentication);
    assert_eq!(ready.err().map(|error| error.kind), expected);
}

#[test]
fn vertex_has_claude_and_gemini() {
    let set = [
        ("GOOGLE_CLOUD_PROJECT", "p"),
        ("CLOUD_ML_REGION", "global"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file"),
    ];
    let vertex = router(&set);
    for (name, api) in [
        ("vertex/opus", Api::MESSAGES),
        ("vertex/claude-haiku-4-5@20251001", Api::MESSAGES),
        ("vertex/gemini-2.5-pro", Api::GEMINI),
        ("vertex/publishers/google/models/gemini-x", Api::GEMINI),
    ] {
        vertex.ready(name).unwrap();
        assert_eq!(vertex.model_info(&vertex.resolve_model(name)).api, Api::new("vertex", api), "{name}");
    }
    let preferred = router(&[set.as_slice(), &[("CLAUDE_CODE_USE_VERTEX", "true")]].concat());
    assert_eq!(preferred.prefixes().next(), Some("vertex"));
    assert_eq!(preferred.model_info("claude-opus-5-5").api, Api::new("vertex", Api::MESSAGES));
    let error = router(&[]).ready("vertex/opus").unwrap_err();
    assert!(error.message.contains("GOOGLE_CLOUD_PROJECT"), "{error}");
}

/// Names of other vendors, of vendors that are not here, and misspelt ones never reach the first provider.
#[tokio::test]
async fn a_model_goes_to_its_own_vendor_or_nowhere() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|_| WireMessage::new().text("ok").into());
    let keys = router(&[("ANTHROPIC_API_KEY", "key-1"), ("OPENAI_API_KEY", "key-2")]);
    for (name, told) in [
        ("llama3", "no provider is known to have the model \"llama3\": put the prefix of a provider"),
        (
            "nosuch/x",
            "there is no provider \"nosuch\" for the model \"nosuch/x\": use one of the prefixes anthropic, openai",
        ),
        ("antropic/opus", "did you mean anthropic/opus?"),
    ] {
        for problem in [keys.ready(name).unwrap_err(), {
            let request = ModelRequest::new(name, vec![Message::user_text("hi").into()], 100);
            keys.stream(Arc::new(request)).await.err().unwrap()
        }] {
            assert!(problem.to_string().contains(told) && problem.unbilled, "{name}: {problem}");
        }
        assert_eq!(keys.resolve_model(name), name);
    }
    // Without a key the name is said to be wrong first.
    let keyless = router(&[]);
    for (name, said, similar) in [
        ("sonet", "the model \"sonet\" is not known: did you mean sonnet?", &["sonnet"][..]),
        ("claude-sonet-4-5", "did you mean claude-sonnet-4-5", &["claude-sonnet-4-5"][..]),
        ("openai/gpt-5.5x", "did you mean openai/gpt-5.5", &["openai/gpt-5.5"][..]),
        ("openrouter/some/model", "check its name; besides, no API key for openrouter", &[][..]),
        (
            "claude-xyzzy-99",
            "is in no list of known models: check its name; besides, no API key: set ANTHROPIC_API_KEY",
            &[][..],
        ),
    ] {
        let error = session().provider(keyless.clone()).model(name).open().await.unwrap_err();
        assert!(error.to_string().contains(said), "{name}: {error}");
        let Error::UnknownModel { similar: near, .. } = error else { panic!("{name}: {error:?}") };
        assert_eq!(near.first().map(String::as_str), similar.first().copied(), "{name}: {near:?}");
    }
    for (name, kind) in [
        ("sonnet", ModelErrorKind::Authentication),
        ("claude-haiku-4-5-20251001", ModelErrorKind::Authentication),
        ("opus[1m]", ModelErrorKind::Authentication),
        ("xyzzy", ModelErrorKind::Configuration),
    ] {
        let error = session().provider(keyless.clone()).model(name).open().await.unwrap_err();
        assert!(matches!(&error, Error::Model(model) if model.kind == kind), "{name}: {error}");
    }
    // The fallback model as well, and with a key.
    let misspelt =
        session().provider(keys.clone()).model(ModelOptions::new().fallback("sonet")).open().await.unwrap_err();
    assert!(matches!(misspelt, Error::UnknownModel { .. }), "{misspelt}");
    // A model that another provider lists goes there, and its id says so.
    assert_eq!(keys.resolve_model("gpt-5.5"), "openai/gpt-5.5");
    keys.ready("gpt-5.5").unwrap();
    for own in ["sonnet", "opus[1m]", "claude-opus-9", "default"] {
        keys.ready(own).unwrap();
        assert!(keys.opening_notice(own).is_none() && !keys.resolve_model(own).contains('/'), "{own}");
    }
    // A gateway gets all names but those with the prefix of another provider.
    let gateway = router(&[("ANTHROPIC_API_KEY", "key-1"), ("ANTHROPIC_BASE_URL", &server.url())]);
    for name in ["llama3", "nosuch/x", "gpt-5.5"] {
        gateway.ready(name).unwrap();
        let notice = format!("The model {name:?} is asked at {}, the address that is set for anthropic.", server.url());
        assert_eq!(gateway.opening_notice(name), Some(notice));
        let request = ModelRequest::new(name, vec![Message::user_text("hi").into()], 100);
        drop(gateway.stream(Arc::new(request)).await.unwrap());
        assert_eq!(server.requests().pop().unwrap().json().unwrap()["model"], name);
    }
    assert_eq!(gateway.opening_notice("sonnet"), None);
    assert_eq!(gateway.ready("openai/gpt-5.5").unwrap_err().kind, ModelErrorKind::Authentication);
}
