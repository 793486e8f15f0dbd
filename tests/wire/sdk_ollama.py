"""Ollama's chat, read by `ollama`."""

import ollama

from common import FAILURES, READ, SERVERS, TEXT, check, equal, raises

TOOL = {"type": "function", "function": {"name": "Read", "description": "Reads a file.", "parameters": READ["schema"]}}


def chunks(model, messages=None, **more):
    messages = messages or [{"role": "user", "content": "hi"}]
    return list(ollama.Client(host=SERVERS["ollama"]).chat(model=model, messages=messages, tools=[TOOL], stream=True, **more))


@check
def text():
    found = chunks("text", options={"num_ctx": 8192})
    equal("".join(chunk.message.content for chunk in found), TEXT)
    last = found[-1]
    equal((last.done, last.done_reason, last.prompt_eval_count, last.eval_count), (True, "stop", 100, 20))


@check
def tools_and_parallel_calls_go_back():
    found = [call for chunk in chunks("parallel") for call in chunk.message.tool_calls or []]
    equal([call.function.arguments for call in found], [{"path": "/a"}, {"path": "/b"}])
    user = {"role": "user", "content": "hi"}
    said = {"role": "assistant", "content": "", "tool_calls": [call.model_dump() for call in found]}
    result = {"role": "tool", "tool_name": "Read", "content": "x"}
    chunks("text", [user, said, result, result])
    for broken in [[user, said, result], [user, result], [user, said, user]]:
        raises(ollama.ResponseError, lambda: chunks("text", broken))


@check
def reasoning():
    equal("".join(chunk.message.thinking or "" for chunk in chunks("reasoning", think=True)), "First this.")


@check
def errors():
    for model, code in zip(FAILURES, [400, 401, 400, 429, 429, 503, 500]):
        equal(raises(ollama.ResponseError, lambda: chunks(model)).status_code, code)


@check
def errors_inside_the_stream():
    raises(ollama.ResponseError, lambda: chunks("inside-server"))
