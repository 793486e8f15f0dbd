"""The Gemini API, read by `google-genai`."""

from google import genai
from google.genai import errors as genai_errors
from google.genai import types

from common import FAILURES, READ, SERVERS, TEXT, check, equal, raises

TOOL = types.Tool(function_declarations=[
    types.FunctionDeclaration(name="Read", description="Reads a file.", parameters_json_schema=READ["schema"])])


def client():
    return genai.Client(api_key="k", http_options=types.HttpOptions(base_url=SERVERS["gemini"]))


def chunks(model, contents="hi", tools=(TOOL,)):
    config = types.GenerateContentConfig(tools=list(tools), thinking_config=types.ThinkingConfig(include_thoughts=True))
    # A client that is given up closes its connections.
    with client() as open_client:
        return list(open_client.models.generate_content_stream(model=model, contents=contents, config=config))


def parts(found):
    return [part for chunk in found for part in (chunk.candidates[0].content.parts or [])]


@check
def text():
    found = chunks("text")
    equal("".join(part.text for part in parts(found)), TEXT)
    last = found[-1]
    usage = last.usage_metadata
    equal((last.candidates[0].finish_reason, usage.prompt_token_count, usage.cached_content_token_count), (types.FinishReason.STOP, 100, 40))
    equal((usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count), (12, 8, 120))


@check
def tools():
    call = parts(chunks("tools"))[-1].function_call
    equal((call.name, call.args), ("Read", {"path": "/ä"}))


@check
def parallel_calls_with_signatures_go_back():
    found = parts(chunks("gemini-3-parallel"))
    calls = [part for part in found if part.function_call]
    equal([part.thought_signature for part in calls], [b"signature", None])
    answer = lambda part: types.Part.from_function_response(name=part.function_call.name, response={"output": "x"})
    user = types.Content(role="user", parts=[types.Part(text="hi")])
    said = types.Content(role="model", parts=calls)
    results = types.Content(role="user", parts=[answer(part) for part in calls])
    equal("".join(part.text for part in parts(chunks("gemini-3-text", [user, said, results]))), TEXT)
    unsigned = types.Content(role="model", parts=[types.Part(function_call=part.function_call) for part in calls])
    half = types.Content(role="user", parts=results.parts[:1])
    for broken, words in [([user, unsigned, results], "thought_signature"), ([user, said, half], "number of function response parts"), ([user, said], "no function response")]:
        error = raises(genai_errors.ClientError, lambda: chunks("gemini-3-text", broken))
        assert words in str(error), error


@check
def reasoning():
    found = parts(chunks("reasoning"))
    equal("".join(part.text for part in found if part.thought), "First this.")
    equal(found[-1].thought_signature, b"signature")


@check
def endings():
    reason = lambda model: chunks(model)[-1].candidates[0].finish_reason.value
    equal([reason("cut"), reason("filtered"), reason("refused")], ["MAX_TOKENS", "SAFETY", "PROHIBITED_CONTENT"])


@check
def errors():
    codes = [400, 400, 400, 429, 429, 503, 500]
    for model, code in zip(FAILURES, codes):
        kind = genai_errors.ServerError if code >= 500 else genai_errors.ClientError
        equal(raises(kind, lambda: chunks(model)).code, code)


@check
def errors_inside_the_stream():
    equal(raises(genai_errors.APIError, lambda: chunks("inside-overloaded")).status, "UNAVAILABLE")


@check
def requests_that_break_rules():
    twice = types.Tool(function_declarations=TOOL.function_declarations * 2)
    raises(genai_errors.ClientError, lambda: chunks("text", tools=[twice]))
    model_first = [types.Content(role="model", parts=[types.Part(text="hi")])]
    raises(genai_errors.ClientError, lambda: chunks("text", model_first))
