"""The Responses API, read by `openai`."""

import openai
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from common import FAILURES, READ, SERVERS, TEXT, check, equal, raises

EVENT = TypeAdapter(ResponseStreamEvent)
TOOL = {"type": "function", "name": "Read", "parameters": READ["schema"], "strict": True}


def client():
    return openai.OpenAI(api_key="k", base_url=SERVERS["responses"] + "/v1", max_retries=0)


def events(model, **more):
    more.setdefault("input", "hi")
    stream = client().responses.create(model=model, stream=True, store=False, tools=[TOOL], **more)
    found = []
    for event in stream:
        # The SDK reads loosely; its types do not.
        EVENT.validate_python(event.to_dict())
        found.append(event)
    equal([event.sequence_number for event in found], list(range(len(found))))
    return found


@check
def text():
    found = events("text")
    equal("".join(event.delta for event in found if event.type == "response.output_text.delta"), TEXT)
    done = found[-1].response
    equal((found[-1].type, done.status, done.output_text, done.usage.total_tokens), ("response.completed", "completed", TEXT, 120))
    equal((done.usage.input_tokens_details.cached_tokens, done.usage.output_tokens_details.reasoning_tokens), (40, 8))


@check
def tools():
    with client().responses.stream(model="tools", input="hi", store=False) as stream:
        done = stream.get_final_response()
    equal([item.type for item in done.output], ["message", "function_call"])
    equal((done.output[1].call_id, done.output[1].name, done.output[1].arguments), ("call_1", "Read", '{"path":"/ä"}'))


@check
def parallel_calls_with_reasoning_go_back():
    done = events("parallel", include=["reasoning.encrypted_content"])[-1].response
    equal([item.type for item in done.output], ["reasoning", "function_call", "function_call"])
    equal(done.output[0].encrypted_content, "c2lnbmF0dXJl")
    results = [{"type": "function_call_output", "call_id": item.call_id, "output": "x"} for item in done.output[1:]]
    history = [{"role": "user", "content": "hi"}, *[item.to_dict() for item in done.output], *results]
    equal(events("text", input=history, include=["reasoning.encrypted_content"])[-1].response.output_text, TEXT)
    for missing, words in [(1, "without its required following item"), (2, "no tool call found"), (4, "no tool output found")]:
        broken = history[:1] + history[1:2] + history[4:] if missing == 1 else history[:missing] + history[missing + 1:]
        error = raises(openai.BadRequestError, lambda: events("text", input=broken, include=["reasoning.encrypted_content"]))
        assert words in str(error), error


@check
def reasoning():
    found = events("reasoning")
    deltas = [event.delta for event in found if event.type == "response.reasoning_summary_text.delta"]
    equal(deltas, ["First ", "this."])
    equal(found[-1].response.output[0].summary[0].text, "First this.")


@check
def endings():
    equal(events("cut")[-1].response.incomplete_details.reason, "max_output_tokens")
    equal(events("filtered")[-1].response.incomplete_details.reason, "content_filter")
    equal(events("refused")[-1].response.output[0].content[0].refusal, "No.")


@check
def errors():
    kinds = [openai.BadRequestError, openai.AuthenticationError, openai.BadRequestError, openai.RateLimitError,
             openai.RateLimitError, openai.InternalServerError, openai.InternalServerError]
    for model, kind in zip(FAILURES, kinds):
        raises(kind, lambda: events(model))
    equal(raises(openai.RateLimitError, lambda: events("quota")).code, "insufficient_quota")


@check
def errors_inside_the_stream():
    stream = client().responses.create(model="inside-rate-limited", input="hi", stream=True)
    last = list(stream)[-1]
    EVENT.validate_python(last.to_dict())
    equal((last.type, last.response.status, last.response.error.code), ("response.failed", "failed", "rate_limit_exceeded"))


@check
def requests_that_break_rules():
    for more, words in [
        ({"max_output_tokens": 3}, ">= 16"),
        ({"extra_body": {"max_tokens": 3}}, "max_tokens"),
        ({"input": [{"role": "user", "content": [{"type": "output_text", "text": "hi"}]}]}, "input"),
        ({"prompt_cache_key": "k" * 65}, "string too long"),
        ({"input": [{"type": "function_call", "call_id": "a", "name": "b", "arguments": "{}"}]}, "no tool output found"),
    ]:
        error = raises(openai.BadRequestError, lambda: events("text", **more))
        assert words in str(error), error
    loose = {**TOOL, "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
    act = lambda: client().responses.create(model="text", input="hi", stream=True, tools=[loose])
    assert "additionalProperties" in str(raises(openai.BadRequestError, act))
