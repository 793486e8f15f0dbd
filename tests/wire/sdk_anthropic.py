"""The Messages API, read by `anthropic`."""

import anthropic

from common import FAILURES, READ, SERVERS, TEXT, check, equal, raises

TOOL = {"name": "Read", "description": "Reads a file.", "input_schema": READ["schema"]}


def client():
    return anthropic.Anthropic(api_key="k", base_url=SERVERS["messages"], max_retries=0)


def final(model, **more):
    more.setdefault("messages", [{"role": "user", "content": "hi"}])
    with client().messages.stream(model=model, max_tokens=2000, tools=[TOOL], **more) as stream:
        for event in stream:
            # Events that the SDK adds are made of these.
            type(event).model_validate(event.to_dict())
        return stream.get_final_message()


@check
def text():
    message = final("text")
    equal((message.content[0].text, message.stop_reason), (TEXT, "end_turn"))
    equal((message.usage.input_tokens, message.usage.cache_read_input_tokens, message.usage.output_tokens), (60, 40, 20))


@check
def tools():
    message = final("tools")
    equal([block.type for block in message.content], ["text", "tool_use"])
    equal((message.content[1].input, message.stop_reason), ({"path": "/ä"}, "tool_use"))


@check
def parallel_calls_with_thinking_go_back():
    message = final("parallel", thinking={"type": "enabled", "budget_tokens": 1024})
    equal([block.type for block in message.content], ["thinking", "tool_use", "tool_use"])
    equal(message.content[0].signature, "c2lnbmF0dXJl")
    said = {"role": "assistant", "content": [block.to_dict() for block in message.content]}
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "x"} for block in message.content[1:]]
    history = [{"role": "user", "content": "hi"}, said, {"role": "user", "content": results}]
    final("text", messages=history)
    for broken in [results[:1], [*results, results[0]], [{"type": "text", "text": "x"}, *results]]:
        history[2] = {"role": "user", "content": broken}
        raises(anthropic.BadRequestError, lambda: final("text", messages=history))


@check
def endings():
    equal([final(model).stop_reason for model in ("cut", "refused")], ["max_tokens", "refusal"])


@check
def errors():
    kinds = [anthropic.BadRequestError, anthropic.AuthenticationError, anthropic.BadRequestError,
             anthropic.RateLimitError, anthropic.BadRequestError, anthropic.InternalServerError,
             anthropic.InternalServerError]
    for model, kind in zip(FAILURES, kinds):
        raises(kind, lambda: final(model))


@check
def errors_inside_the_stream():
    error = raises(anthropic.APIStatusError, lambda: final("inside-overloaded"))
    equal(error.body["error"]["type"], "overloaded_error")


@check
def requests_that_break_rules():
    for more in [
        {"messages": [{"role": "assistant", "content": "hi"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
        {"thinking": {"type": "enabled", "budget_tokens": 4000}},
        {"extra_body": {"max_completion_tokens": 3}},
    ]:
        raises(anthropic.BadRequestError, lambda: final("text", **more))
