//! Known endpoints. A new one needs only a new row.

use super::compat::{
    AnswerFormat, Auth, Compat, EmptyContent, Finish, IdRule, InstructionRole, OutputLimit, Protocol, ReasoningBack,
    ReasoningField, ReportedCost, Strict, ThinkingSwitch, ToolSupport,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use windlass_types::Effort;

/// Endpoint: its address, the variables that configure it, and its profile.
///
/// ```
/// use windlass_openai::{ChatCompletions, Endpoint};
///
/// let mut endpoint = Endpoint::new("acme", "https://llm.acme.example/v1");
/// endpoint.key_variables = vec!["ACME_API_KEY".into()].into();
/// endpoint.compat.messages.images = false;
/// let provider = ChatCompletions::builder().endpoint(endpoint).api_key("key").build()?;
/// # Ok::<(), windlass_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Endpoint {
    /// Name in logs, errors and the origin of messages.
    pub name: Cow<'static, str>,
    /// Base URL, to which [`TransportCompat::path`](super::TransportCompat::path) is added. Empty: the URL has to be
    /// set.
    pub base_url: Cow<'static, str>,
    /// Variable that sets another base URL. Empty: none.
    #[serde(default)]
    pub base_url_variable: Cow<'static, str>,
    /// Path that is added to a base URL without one, because the vendor's variable usually holds only the host (Azure).
    #[serde(default)]
    pub base_path: Cow<'static, str>,
    /// Variables that hold the key; the first that is set is used.
    #[serde(default)]
    pub key_variables: Cow<'static, [Cow<'static, str>]>,
    /// Profile of the endpoint.
    #[serde(default)]
    pub compat: Compat,
}

impl Endpoint {
    /// Creates an endpoint with the default profile and no variables.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            name: Cow::Owned(name.into()),
            base_url: Cow::Owned(base_url.into()),
            base_url_variable: Cow::Borrowed(""),
            base_path: Cow::Borrowed(""),
            key_variables: Cow::Borrowed(&[]),
            compat: Compat::CAREFUL,
        }
    }

    /// Returns the known endpoint of this name; `None` if there is none.
    pub fn preset(name: &str) -> Option<Self> {
        PRESETS.iter().find(|row| row.name == name).map(Row::endpoint)
    }

    /// Returns the names of all known endpoints.
    pub fn preset_names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|row| row.name)
    }

    /// Returns the known endpoint of a base URL, by its host; `None` if there is none. Servers on the local machine
    /// have no host of their own.
    pub fn of_url(url: &str) -> Option<Self> {
        let host = host(url)?;
        let row = PRESETS.iter().find(|row| host_of(row) == Some(host));
        row.map(Row::endpoint)
    }
}

fn host_of(row: &Row) -> Option<&'static str> {
    host(row.base_url).filter(|host| *host != "localhost")
}

fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', ':', '?']).next().filter(|host| !host.is_empty())
}

/// Row of the table of known endpoints.
struct Row {
    name: &'static str,
    base_url: &'static str,
    base_url_variable: &'static str,
    key_variables: &'static [&'static str],
    /// Applies the differences from the default profile.
    differs: fn(&mut Compat),
}

impl Row {
    fn endpoint(&self) -> Endpoint {
        let mut endpoint = Endpoint::new(self.name, self.base_url);
        endpoint.base_url_variable = Cow::Borrowed(self.base_url_variable);
        endpoint.key_variables = self.key_variables.iter().map(|name| Cow::Borrowed(*name)).collect();
        (self.differs)(&mut endpoint.compat);
        if self.name == "azure" {
            endpoint.base_path = Cow::Borrowed("/openai/v1");
        }
        endpoint
    }
}

const PRESETS: &[Row] = &[
    Row {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        base_url_variable: "OPENAI_BASE_URL",
        key_variables: &["OPENAI_API_KEY"],
        differs: openai,
    },
    Row {
        name: "azure",
        base_url: "",
        base_url_variable: "AZURE_OPENAI_ENDPOINT",
        key_variables: &["AZURE_OPENAI_API_KEY"],
        differs: azure,
    },
    Row {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        base_url_variable: "OPENROUTER_BASE_URL",
        key_variables: &["OPENROUTER_API_KEY"],
        differs: openrouter,
    },
    Row {
        name: "deepseek",
        base_url: "https://api.deepseek.com",
        base_url_variable: "DEEPSEEK_BASE_URL",
        key_variables: &["DEEPSEEK_API_KEY"],
        differs: deepseek,
    },
    Row {
        name: "groq",
        base_url: "https://api.groq.com/openai/v1",
        base_url_variable: "GROQ_BASE_URL",
        key_variables: &["GROQ_API_KEY"],
        differs: groq,
    },
    Row {
        name: "mistral",
        base_url: "https://api.mistral.ai/v1",
        base_url_variable: "MISTRAL_BASE_URL",
        key_variables: &["MISTRAL_API_KEY"],
        differs: mistral,
    },
    Row {
        name: "together",
        base_url: "https://api.together.xyz/v1",
        base_url_variable: "TOGETHER_BASE_URL",
        key_variables: &["TOGETHER_API_KEY"],
        differs: together,
    },
    Row {
        name: "xai",
        base_url: "https://api.x.ai/v1",
        base_url_variable: "XAI_BASE_URL",
        key_variables: &["XAI_API_KEY"],
        differs: xai,
    },
    Row {
        name: "moonshot",
        base_url: "https://api.moonshot.ai/v1",
        base_url_variable: "MOONSHOT_BASE_URL",
        key_variables: &["MOONSHOT_API_KEY"],
        differs: moonshot,
    },
    Row {
        name: "zai",
        base_url: "https://api.z.ai/api/paas/v4",
        base_url_variable: "ZAI_BASE_URL",
        key_variables: &["ZAI_API_KEY"],
        differs: zai,
    },
    Row {
        name: "qwen",
        base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        base_url_variable: "DASHSCOPE_BASE_URL",
        key_variables: &["DASHSCOPE_API_KEY"],
        differs: qwen,
    },
    Row {
        name: "vllm",
        base_url: "http://localhost:8000/v1",
        base_url_variable: "VLLM_BASE_URL",
        key_variables: &["VLLM_API_KEY"],
        differs: vllm,
    },
    Row {
        name: "llama.cpp",
        base_url: "http://localhost:8080/v1",
        base_url_variable: "LLAMA_CPP_BASE_URL",
        key_variables: &["LLAMA_API_KEY"],
        differs: llama_cpp,
    },
    Row {
        name: "lmstudio",
        base_url: "http://localhost:1234/v1",
        base_url_variable: "LMSTUDIO_BASE_URL",
        key_variables: &["LMSTUDIO_API_KEY"],
        differs: own_machine,
    },
    Row {
        name: "litellm",
        base_url: "http://localhost:4000/v1",
        base_url_variable: "LITELLM_BASE_URL",
        key_variables: &["LITELLM_API_KEY", "LITELLM_MASTER_KEY"],
        differs: litellm,
    },
    Row {
        name: "ollama",
        base_url: "http://localhost:11434",
        base_url_variable: "OLLAMA_HOST",
        key_variables: &["OLLAMA_API_KEY"],
        differs: ollama,
    },
];

const fn effort(effort: Effort, name: &'static str) -> (Effort, Cow<'static, str>) {
    (effort, Cow::Borrowed(name))
}

const LOW_TO_HIGH: &[(Effort, Cow<'static, str>)] =
    &[effort(Effort::Low, "low"), effort(Effort::Medium, "medium"), effort(Effort::High, "high")];

const LOW_TO_XHIGH: &[(Effort, Cow<'static, str>)] = &[
    effort(Effort::Low, "low"),
    effort(Effort::Medium, "medium"),
    effort(Effort::High, "high"),
    effort(Effort::XHigh, "xhigh"),
];

/// OpenAI, "Create chat completion".
fn openai(compat: &mut Compat) {
    compat.body.output_limit = OutputLimit::MaxCompletionTokens;
    compat.body.plain_stream = true;
    compat.body.user_field = Cow::Borrowed("safety_identifier");
    compat.body.answer_format = AnswerFormat::StrictJsonSchema;
    compat.cache.key = true;
    compat.cache.retention = true;
    compat.messages.instructions = InstructionRole::Developer;
    compat.messages.one_system_message = false;
    compat.messages.without_text = EmptyContent::Null;
    compat.messages.documents = true;
    compat.tools.strict = Strict::PerTool;
    // OpenAI neither shows its reasoning here nor takes it back.
    compat.reasoning.back = ReasoningBack::Never;
    compat.reasoning.switch = ThinkingSwitch::Effort;
    compat.reasoning.efforts = Cow::Borrowed(LOW_TO_XHIGH);
}

/// Microsoft, "Azure OpenAI v1 API".
fn azure(compat: &mut Compat) {
    openai(compat);
    compat.transport.auth = Auth::Header(Cow::Borrowed("api-key"));
    // Azure supports members that OpenAI added recently only later.
    compat.body.plain_stream = false;
    compat.body.user_field = Cow::Borrowed("user");
    compat.messages.instructions = InstructionRole::System;
    compat.messages.documents = false;
}

/// OpenRouter, "API reference", "Reasoning tokens", "Prompt caching".
fn openrouter(compat: &mut Compat) {
    compat.body.user_field = Cow::Borrowed("user");
    compat.body.answer_format = AnswerFormat::JsonSchema;
    compat.cache.control_models = Cow::Borrowed(&[Cow::Borrowed("anthropic/")]);
    compat.messages.documents = true;
    compat.reasoning.fields =
        Cow::Borrowed(&[ReasoningField::Reasoning, ReasoningField::ReasoningContent, ReasoningField::ReasoningText]);
    compat.reasoning.back = ReasoningBack::Always;
    compat.reasoning.switch = ThinkingSwitch::ReasoningObject;
    compat.reasoning.efforts = Cow::Borrowed(LOW_TO_XHIGH);
    compat.answer.window_percent = 85;
    compat.answer.reported_cost = ReportedCost::Dollars;
}

/// DeepSeek, "Thinking mode", "JSON output", "Create chat completion".
fn deepseek(compat: &mut Compat) {
    compat.body.answer_format = AnswerFormat::JsonObject;
    compat.messages.images = false;
    compat.reasoning.required = true;
    compat.reasoning.switch = ThinkingSwitch::ThinkingType;
    compat.reasoning.sends_off = true;
    compat.reasoning.efforts = Cow::Borrowed(const { &[effort(Effort::High, "high"), effort(Effort::Max, "max")] });
}

/// Groq, "API reference", "Reasoning". Accepts `reasoning` in requests, but refuses `reasoning_content`, which it does
/// not send.
fn groq(compat: &mut Compat) {
    compat.body.output_limit = OutputLimit::MaxCompletionTokens;
    compat.body.user_field = Cow::Borrowed("user");
    compat.body.answer_format = AnswerFormat::JsonSchema;
    compat.reasoning.switch = ThinkingSwitch::Effort;
    compat.reasoning.efforts = Cow::Borrowed(LOW_TO_HIGH);
}

/// Mistral, "Chat completion", "Reasoning". Always reports its usage, and refuses unknown members.
fn mistral(compat: &mut Compat) {
    compat.body.include_usage = false;
    compat.body.answer_format = AnswerFormat::JsonSchema;
    compat.messages.tool_name = true;
    compat.messages.reasoning_parts = true;
    compat.tools.ids = IdRule::NineAlphanumeric;
    compat.reasoning.back = ReasoningBack::Always;
}

/// Together, "Chat completions", "Reasoning".
fn together(compat: &mut Compat) {
    compat.body.answer_format = AnswerFormat::JsonSchema;
    compat.reasoning.switch = ThinkingSwitch::ReasoningEnabled;
    compat.reasoning.efforts = Cow::Borrowed(LOW_TO_HIGH);
}

/// xAI, "Chat completions", "Reasoning", "Prompt caching", "Cost tracking".
fn xai(compat: &mut Compat) {
    compat.transport.session_header = Cow::Borrowed("x-grok-conv-id");
    compat.body.output_limit = OutputLimit::MaxCompletionTokens;
    compat.body.user_field = Cow::Borrowed("user");
    compat.body.answer_format = AnswerFormat::JsonSchema;
    compat.reasoning.back = ReasoningBack::Never;
    compat.reasoning.switch = ThinkingSwitch::Effort;
    compat.reasoning.efforts = Cow::Borrowed(LOW_TO_HIGH);
    compat.answer.reasoning_beside_output = true;
    compat.answer.reported_cost = ReportedCost::DollarTicks;
}

/// Moonshot, "Chat", "Thinking models", "Tool calls".
fn moonshot(compat: &mut Compat) {
    compat.body.output_limit = OutputLimit::MaxCompletionTokens;
    compat.body.answer_format = AnswerFormat::JsonObject;
    compat.tools.choice = ToolSupport::NoRequired;
    compat.reasoning.back = ReasoningBack::Always;
    compat.reasoning.switch = ThinkingSwitch::ThinkingType;
}

/// z.ai, "Chat completion", "Thinking mode", "Tool streaming".
fn zai(compat: &mut Compat) {
    compat.body.answer_format = AnswerFormat::JsonObject;
    compat.tools.choice = ToolSupport::AutoOnly;
    compat.tools.stream = true;
    compat.reasoning.back = ReasoningBack::Always;
    compat.reasoning.switch = ThinkingSwitch::ThinkingType;
    compat.reasoning.sends_off = true;
    compat.reasoning.efforts = Cow::Borrowed(
        const { &[effort(Effort::Low, "low"), effort(Effort::High, "high"), effort(Effort::Max, "max")] },
    );
    compat.reasoning.keep = true;
    compat.answer.silent_overflow = true;
}

/// Alibaba Model Studio, "OpenAI compatible - Chat", "Deep thinking".
fn qwen(compat: &mut Compat) {
    compat.body.answer_format = AnswerFormat::JsonObject;
    compat.tools.choice = ToolSupport::NoRequired;
    compat.reasoning.back = ReasoningBack::Never;
    compat.reasoning.switch = ThinkingSwitch::EnableThinking;
    compat.reasoning.sends_off = true;
}

fn own_machine(compat: &mut Compat) {
    compat.transport.key_optional = true;
    compat.body.answer_format = AnswerFormat::JsonSchema;
}

/// vLLM, "OpenAI-compatible server", "Reasoning outputs".
fn vllm(compat: &mut Compat) {
    own_machine(compat);
    compat.reasoning.fields =
        Cow::Borrowed(&[ReasoningField::Reasoning, ReasoningField::ReasoningContent, ReasoningField::ReasoningText]);
    compat.reasoning.switch = ThinkingSwitch::ChatTemplate;
    compat.answer.finish_reasons = Cow::Borrowed(const { &[(Cow::Borrowed("abort"), Finish::Cut)] });
}

/// llama.cpp, "HTTP server".
fn llama_cpp(compat: &mut Compat) {
    own_machine(compat);
    compat.reasoning.switch = ThinkingSwitch::ChatTemplate;
}

/// LiteLLM, "Proxy".
fn litellm(compat: &mut Compat) {
    compat.transport.key_optional = true;
    compat.body.user_field = Cow::Borrowed("user");
    compat.body.answer_format = AnswerFormat::JsonSchema;
    compat.cache.control_models = Cow::Borrowed(&[Cow::Borrowed("claude"), Cow::Borrowed("anthropic")]);
    compat.tools.empty_list = true;
    compat.reasoning.switch = ThinkingSwitch::Effort;
    compat.reasoning.efforts = Cow::Borrowed(LOW_TO_HIGH);
}

/// Ollama, "API", `POST /api/chat`.
fn ollama(compat: &mut Compat) {
    own_machine(compat);
    compat.transport.protocol = Protocol::Ollama;
    compat.transport.path = Cow::Borrowed("/api/chat");
}
