"""Writes the JSON Schemas by which the wire servers check requests, from the typed models of the vendors' own SDKs.

Usage: target/wire/py/bin/python tests/wire/schemas.py [FOLDER]
The default folder is crates/windlass-testkit/src/wire/schema. Run it after a new version is pinned in
tests/wire/requirements.txt, and look at the difference.
"""

import gzip
import importlib.metadata
import json
import pathlib
import re
import sys
import typing
import warnings

import typing_extensions
from pydantic import ConfigDict, TypeAdapter, create_model

# Types of blocks and tools that vendors run themselves, and of media that no provider here sends.
HOSTED = re.compile(
    r"Computer|Mcp|MCP|Shell|ImageGen|WebSearch|WebFetch|FileSearch|CodeInterpreter|CodeExecution|CodeMode|ApplyPatch"
    r"|Skill|Container|Bash|TextEditor|MemoryTool|Advisor|Audio|Video|GoogleMaps|GoogleSearch|EnterpriseWeb|UrlContext"
    r"|Retrieval|Voice|Speech|Parallel|ItemReference|ServerToolUse|ServerToolCaller|SearchResultLocation|Browser|Guardrail|Spreadsheet"
    r"|Transcription|WordInfo|ExaAi|Translation|RoutingConfig|PartialArg"
)


def closed(shape, seen=None):
    """Makes a TypedDict and all within refuse members that it does not name."""
    seen = set() if seen is None else seen
    if id(shape) in seen:
        return
    seen.add(id(shape))
    if typing_extensions.is_typeddict(shape):
        shape.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
        for hint in typing_extensions.get_type_hints(shape, include_extras=True).values():
            closed(hint, seen)
    for inner in typing.get_args(shape):
        closed(inner, seen)


def pruned(node, is_property_map=False):
    """A schema without words, titles, defaults, and without what is hosted."""
    if isinstance(node, list):
        return [pruned(item) for item in node if not hosted(item)]
    if not isinstance(node, dict):
        return node
    kept = {}
    for name, value in node.items():
        if not is_property_map and name in ("title", "description", "default", "discriminator", "format", "examples"):
            continue
        if is_property_map and hosted(value):
            continue
        kept[name] = pruned(value, is_property_map=not is_property_map and name in ("properties", "$defs"))
    return kept


def hosted(node):
    return isinstance(node, dict) and bool(HOSTED.search(node.get("$ref", "").rsplit("/", 1)[-1]))


def without_models(schema):
    """A schema without the models of answers, which the SDK also takes in requests: they are open."""
    definitions = schema["$defs"]
    models = {name for name, it in definitions.items() if it.get("additionalProperties") is True and "properties" in it}

    def cleaned(node):
        if isinstance(node, list):
            return [cleaned(it) for it in node if not (isinstance(it, dict) and it.get("$ref", "").rsplit("/", 1)[-1] in models)]
        if isinstance(node, dict):
            return {name: cleaned(it) for name, it in node.items()}
        return node

    return cleaned(schema)


def referenced(node, found):
    if isinstance(node, list):
        for item in node:
            referenced(item, found)
    elif isinstance(node, dict):
        if "$ref" in node:
            found.append(node["$ref"].rsplit("/", 1)[-1])
        for value in node.values():
            referenced(value, found)


def with_needed_definitions(schema):
    definitions = schema.pop("$defs", {})
    wanted, todo = set(), []
    referenced(schema, todo)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            referenced(definitions[name], todo)
    return {**schema, "$defs": {name: definitions[name] for name in sorted(wanted)}}


def of_typed_dict(shape, without=()):
    closed(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = TypeAdapter(shape).json_schema()
    for name in without:
        schema["properties"].pop(name, None)
    return schema


def openai_responses():
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    return of_typed_dict(ResponseCreateParamsStreaming)


def openai_chat():
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    return of_typed_dict(CompletionCreateParamsStreaming)


def anthropic_messages():
    from anthropic.types.beta import message_create_params

    # Sent as a header.
    return without_models(of_typed_dict(message_create_params.MessageCreateParamsStreaming, without=["betas"]))


def gemini():
    from google.genai import types

    # The body as both backends take it; the SDK has it as arguments of a function.
    body = create_model(
        "GenerateContentRequest",
        __base__=types._common.BaseModel,
        contents=(list[types.Content], ...),
        system_instruction=(types.Content | None, None),
        tools=(list[types.Tool] | None, None),
        tool_config=(types.ToolConfig | None, None),
        safety_settings=(list[types.SafetySetting] | None, None),
        generation_config=(types.GenerationConfig | None, None),
        cached_content=(str | None, None),
        labels=(dict[str, str] | None, None),
    )
    return body.model_json_schema(by_alias=True)


def ollama():
    from ollama._types import ChatRequest

    class Closed(ChatRequest):
        model_config = ConfigDict(extra="forbid")

    return Closed.model_json_schema()


def converse():
    import botocore

    folder = pathlib.Path(botocore.__file__).parent / "data" / "bedrock-runtime"
    file = sorted(folder.glob("*/service-2.json*"))[-1]
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    shapes = json.loads(text)["shapes"]
    root = shapes["ConverseStreamRequest"]
    # These stand in the address and in headers.
    members = {name: it for name, it in root["members"].items() if "location" not in it}
    required = [name for name in root.get("required", []) if name in members]
    definitions = {name: of_shape(shape) for name, shape in shapes.items()}
    return {**of_structure({"members": members, "required": required}), "$defs": definitions}


def of_structure(shape):
    properties = {
        member.get("locationName", name): {"$ref": f"#/$defs/{member['shape']}"}
        for name, member in shape["members"].items()
    }
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if shape.get("required"):
        schema["required"] = shape["required"]
    if shape.get("union"):
        schema["minProperties"] = schema["maxProperties"] = 1
    return schema


def of_shape(shape):
    kind = shape["type"]
    if kind == "structure":
        return {} if shape.get("document") else of_structure(shape)
    if kind == "list":
        bounds = {"minItems": shape.get("min"), "maxItems": shape.get("max")}
        schema = {"type": "array", "items": {"$ref": f"#/$defs/{shape['member']['shape']}"}}
    elif kind == "map":
        bounds = {}
        schema = {"type": "object", "additionalProperties": {"$ref": f"#/$defs/{shape['value']['shape']}"}}
    elif kind in ("string", "blob"):
        bounds = {"minLength": shape.get("min"), "maxLength": shape.get("max")} if kind == "string" else {}
        schema = {"type": "string"}
        if "enum" in shape:
            schema["enum"] = shape["enum"]
        if "pattern" in shape:
            schema["pattern"] = f"^(?:{shape['pattern']})$"
    else:
        bounds = {"minimum": shape.get("min"), "maximum": shape.get("max")}
        schema = {"type": {"boolean": "boolean", "integer": "integer", "long": "integer"}.get(kind, "number")}
    return {**schema, **{name: value for name, value in bounds.items() if value is not None}}


SCHEMAS = {
    "anthropic-messages": ("anthropic", anthropic_messages),
    "openai-responses": ("openai", openai_responses),
    "openai-chat": ("openai", openai_chat),
    "gemini": ("google-genai", gemini),
    "bedrock-converse": ("botocore", converse),
    "ollama-chat": ("ollama", ollama),
}


def main():
    home = pathlib.Path(__file__).resolve().parent.parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else home / "crates/windlass-testkit/src/wire/schema"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (package, make) in SCHEMAS.items():
        source = f"The shape of a request, from the types of the Python package {package} {importlib.metadata.version(package)}."
        schema = with_needed_definitions(pruned(make()))
        text = json.dumps({"$comment": source, **schema}, separators=(",", ":"), ensure_ascii=False)
        # A line for each definition, so that a difference can be read.
        text = re.sub(r'(,|"\$defs":\{)("[A-Za-z0-9_.]+":\{"(?:additionalProperties|type|properties|anyOf|enum)")', r"\1\n\2", text)
        (folder / f"{name}.json").write_text(text + "\n")
        print(f"{name}: {len(text)} bytes")


main()
