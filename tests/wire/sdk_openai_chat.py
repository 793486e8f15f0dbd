"""Chat Completions, read by `openai`."""

import openai
from openai.types.chat import ChatCompletionChunk

from common import FAILURES, READ, SERVERS, TEXT, check, equal, raises

TOOL = {"type": "function", "function": {"name": "Read", "parameters": READ["schema"], "strict": True}}


def client(server="chat"):
    return openai.OpenAI(api_key="k", base_url=SERVERS[server] + "/v1", max_retries=0)


def chunks(model, server="chat", **more):
    more.setdefault("messages", [{"role": "user", "content": "hi"}])
    stream = client(server).chat.completions.create(
        model=model, stream=True, stream_options={"include_usage": True}, tools=[TOOL], **more)
    found = list(stream)
    for chunk in found:
        ChatCompletionChunk.model_validate(chunk.to_dict())
    return found


def final(model, **more):
    with client().chat.completions.stream(
            model=model, messages=[{"role": "user", "content": "hi"}], tools=[TOOL], **more) as stream:
        return stream.get_final_completion()


@check
def text():
    found = chunks("text")
    equal("".join(chunk.choices[0].delta.content or "" for chunk in found if chunk.choices), TEXT)
    usage = found[-1].usage
    equal((usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens), (100, 40, 20))
    equal(final("text").choices[0].message.content, TEXT)


@check
def tools():
    message = final("tools").choices[0]
    call = message.message.tool_calls[0]
    equal((message.finish_reason, message.message.content), ("tool_calls", "Let me look."))
    equal((call.id, call.function.name, call.function.arguments), ("call_1", "Read", '{"path":"/ä"}'))


@check
def parallel_calls_go_back():
    message = final("parallel").choices[0].message
    equal([call.id for call in message.tool_calls], ["call_1", "call_2"])
    results = [{"role": "tool", "tool_call_id": call.id, "content": "x"} for call in message.tool_calls]
    said = {"role": "assistant", "tool_calls": [
        {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
        for call in message.tool_calls]}
    history = [{"role": "user", "content": "hi"}, said, *results]
    chunks("text", messages=history)
    for broken in [history[:-1], history[:1] + history[2:], history[:2] + [{"role": "user", "content": "x"}]]:
        raises(openai.BadRequestError, lambda: chunks("text", messages=broken))


@check
def reasoning():
    found = chunks("reasoning", server="chat-reasoning")
    deltas = [getattr(chunk.choices[0].delta, "reasoning_content", None) for chunk in found if chunk.choices]
    equal([delta for delta in deltas if delta], ["First ", "this."])
    said = {"role": "assistant", "content": "Done.", "reasoning_content": "First this."}
    messages = [{"role": "user", "content": "hi"}, said, {"role": "user", "content": "x"}]
    chunks("text", server="chat-reasoning", messages=messages)
    # OpenAI itself has no such member.
    raises(openai.BadRequestError, lambda: chunks("text", messages=messages))


@check
def endings():
    reason = lambda model: [chunk.choices[0].finish_reason for chunk in chunks(model) if chunk.choices][-1]
    equal([reason("cut"), reason("filtered"), reason("refused")], ["length", "content_filter", "stop"])
    equal(final("refused").choices[0].message.refusal, "No.")


@check
def errors():
    kinds = [openai.BadRequestError, openai.AuthenticationError, openai.BadRequestError, openai.RateLimitError,
             openai.RateLimitError, openai.InternalServerError, openai.InternalServerError]
    for model, kind in zip(FAILURES, kinds):
        raises(kind, lambda: chunks(model))
    equal(raises(openai.BadRequestError, lambda: chunks("overflow")).code, "context_length_exceeded")


@check
def errors_inside_the_stream():
    error = raises(openai.APIError, lambda: chunks("inside-server"))
    assert "had an error" in error.message, error


@check
def requests_that_break_rules():
    for more in [
        {"max_tokens": 3, "max_completion_tokens": 3},
        {"extra_body": {"input": 3}},
        {"tool_choice": "always"},
        {"messages": []},
        {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None}]},
    ]:
        raises(openai.BadRequestError, lambda: chunks("text", **more))
