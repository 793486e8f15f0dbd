"""MCP servers: those inside the host, and programs. Usage: servers.py WINDLASS [NAME ..]"""

from typing import Any

from claude_agent_sdk import (
    ToolResultBlock,
    create_sdk_mcp_server,
    query,
)
from claude_agent_sdk import tool as mcp_tool

from common import blocks, collect, contains, equal, main, play, result, system, test, tool


def calc(seen=None):
    @mcp_tool("add", "Adds two numbers.", {"a": float, "b": float})
    async def add(args: dict[str, Any]):
        if seen is not None:
            seen.append(args)
        return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}

    return create_sdk_mcp_server("calc", version="1.2.3", tools=[add])


@test
async def in_process_tools(world):
    seen = []
    options = world.options(mcp_servers={"calc": calc(seen)}, allowed_tools=["mcp__calc__*"])
    script = play(tool("mcp__calc__add", a=1, b=2), [{"say": "results"}])
    messages = await collect(query(prompt=script, options=options))
    init = system(messages, "init")[0].data
    contains(init["tools"], "mcp__calc__add")
    equal(init["mcp_servers"], [{"name": "calc", "status": "connected", "source": "sdk"}])
    [block] = blocks(messages, ToolResultBlock)
    assert not block.is_error, block
    equal(result(messages).result, "3")
    equal(seen, [{"a": 1, "b": 2}])


main()
