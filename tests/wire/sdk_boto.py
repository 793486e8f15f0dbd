"""ConverseStream, read by `boto3`, whose decoder checks the checksums of the event stream."""

import boto3
import botocore.exceptions
from botocore.config import Config

from common import FAILURES, READ, SERVERS, TEXT, check, equal, raises

TOOL = {"toolSpec": {"name": "Read", "description": "Reads a file.", "inputSchema": {"json": READ["schema"]}}}


def client():
    return boto3.client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url=SERVERS["converse"], aws_access_key_id="a",
        aws_secret_access_key="b", config=Config(retries={"max_attempts": 1}))


def events(model, messages=None, **more):
    messages = messages or [{"role": "user", "content": [{"text": "hi"}]}]
    answer = client().converse_stream(modelId=model, messages=messages, toolConfig={"tools": [TOOL]}, **more)
    return list(answer["stream"])


def of(found, name):
    return [event[name] for event in found if name in event]


@check
def text():
    found = events("text")
    equal("".join(delta["delta"]["text"] for delta in of(found, "contentBlockDelta")), TEXT)
    equal([next(iter(event)) for event in found][-2:], ["messageStop", "metadata"])
    equal(found[-1]["metadata"]["usage"], {"inputTokens": 60, "outputTokens": 20, "totalTokens": 120, "cacheReadInputTokens": 40, "cacheWriteInputTokens": 0})


@check
def tools():
    found = events("tools")
    equal(of(found, "contentBlockStart"), [{"start": {"toolUse": {"toolUseId": "call_1", "name": "Read"}}, "contentBlockIndex": 1}])
    inputs = [delta["delta"]["toolUse"]["input"] for delta in of(found, "contentBlockDelta") if "toolUse" in delta["delta"]]
    equal(("".join(inputs), of(found, "messageStop")[0]["stopReason"]), ('{"path":"/ä"}', "tool_use"))


@check
def parallel_calls_with_reasoning_go_back():
    found = events("parallel")
    equal([start["contentBlockIndex"] for start in of(found, "contentBlockStart")], [1, 2])
    deltas = [delta["delta"]["reasoningContent"] for delta in of(found, "contentBlockDelta") if "reasoningContent" in delta["delta"]]
    equal(deltas, [{"text": "hm"}, {"signature": "c2lnbmF0dXJl"}])
    reasoning = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2lnbmF0dXJl"}}}
    call = lambda id: {"toolUse": {"toolUseId": id, "name": "Read", "input": {"path": "/a"}}}
    result = lambda id: {"toolResult": {"toolUseId": id, "content": [{"text": "x"}]}}
    user = {"role": "user", "content": [{"text": "hi"}]}
    said = {"role": "assistant", "content": [reasoning, call("call_1"), call("call_2")]}
    events("text", [user, said, {"role": "user", "content": [result("call_1"), result("call_2")]}])
    for broken in [
        [user, said, {"role": "user", "content": [result("call_1")]}],
        [user, user],
        [user, said],
        [user, {"role": "user", "content": [result("call_1")]}],
        [{"role": "user", "content": [{"text": " "}]}],
    ]:
        equal(raises(botocore.exceptions.ClientError, lambda: events("text", broken)).response["Error"]["Code"], "ValidationException")


@check
def endings():
    reason = lambda model: of(events(model), "messageStop")[0]["stopReason"]
    equal([reason("cut"), reason("filtered"), reason("refused")], ["max_tokens", "content_filtered", "guardrail_intervened"])


@check
def errors():
    codes = ["ValidationException", "UnrecognizedClientException", "ValidationException", "ThrottlingException",
             "ThrottlingException", "ServiceUnavailableException", "InternalServerException"]
    for model, code in zip(FAILURES, codes):
        equal(raises(botocore.exceptions.ClientError, lambda: events(model)).response["Error"]["Code"], code)


@check
def errors_inside_the_stream():
    error = raises(botocore.exceptions.EventStreamError, lambda: events("inside-rate-limited"))
    equal(error.response["Error"]["Code"], "throttlingException")
