// MCP servers: those inside the host, and programs.

import assert from "node:assert/strict";
import { dirname, join, resolve } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { blocks, collect, framed, main, play, query, result, sdk, session, system, text, tool, until } from "./common.mjs";

const [modules, python] = process.argv.slice(3).map((path) => resolve(path));
const require = createRequire(join(modules, "x.js"));
const { z } = await import(pathToFileURL(require.resolve("zod")));
const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "programs/server.py");
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const program = (...more) => ({ type: "stdio", command: python, args: [PROGRAM, ...more] });
const said = (text) => ({ content: [{ type: "text", text }] });

/** A server inside this process. */
function calc() {
  const seen = [];
  let started;
  const waiting = new Promise((done) => { started = done; });
  const tools = [
    sdk.tool("add", "Adds two numbers.", { a: z.number(), b: z.number() }, async (given) => {
      seen.push(given);
      return said(String(given.a + given.b));
    }, { annotations: { readOnlyHint: true } }),
    sdk.tool("fail", "Fails.", {}, async () => ({ ...said("it is broken"), isError: true })),
    sdk.tool("crash", "Throws.", {}, async () => { throw new Error("out of cheese"); }),
    sdk.tool("draw", "Draws.", {}, async () => ({
      content: [{ type: "text", text: "a pixel" }, { type: "image", data: PIXEL, mimeType: "image/png" }],
    })),
    sdk.tool("wait", "Waits for ever.", {}, async () => {
      started();
      return await new Promise(() => {});
    }),
  ];
  const server = sdk.createSdkMcpServer({ name: "calc", version: "1.2.3", tools });
  return { server, seen, waiting };
}

/** The prompt as a stream: servers inside the host need the host to stay. */
async function* once(content) {
  yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
}

/** Has the model make calls: what it is told, the results and all messages. */
async function call(world, calls, more) {
  const messages = await collect(query({ prompt: once(play(calls, [{ say: "results" }])), options: world.options(more) }));
  return { told: result(messages).result, found: blocks(messages, "tool_result"), messages };
}

const mcpTools = (messages) => system(messages, "init")[0].tools.filter((name) => name.startsWith("mcp__"));
const states = (servers) => Object.fromEntries(servers.map((server) => [server.name, server.status]));

await main({
  async in_process_tools(world) {
    const { server, seen } = calc();
    const more = { mcpServers: { calc: server }, allowedTools: ["mcp__calc__*"] };
    const { told, found, messages } = await call(world, tool("mcp__calc__add", { a: 1, b: 2 }), more);
    assert.deepEqual(mcpTools(messages), ["add", "crash", "draw", "fail", "wait"].map((name) => `mcp__calc__${name}`));
    assert.deepEqual(system(messages, "init")[0].mcp_servers, [{ name: "calc", status: "connected", source: "sdk" }]);
    assert.equal(found.length, 1);
    assert.equal(told, "3");
    assert.deepEqual(seen, [{ a: 1, b: 2 }]);
  },

  async a_prompt_as_text(world) {
    const options = world.options({ mcpServers: { calc: calc().server }, allowedTools: ["mcp__calc"] });
    const prompt = play(tool("mcp__calc__add", { a: 1, b: 2 }), [{ say: "results" }]);
    assert.equal(result(await collect(query({ prompt, options }))).result, "3");
  },

  async results_of_all_kinds(world) {
    const calls = ["fail", "crash", "draw"].flatMap((name) => tool(`mcp__calc__${name}`, {}));
    const more = { mcpServers: { calc: calc().server }, allowedTools: ["mcp__calc"] };
    const { told, found } = await call(world, calls, more);
    assert.deepEqual(found.map((block) => Boolean(block.is_error)), [true, true, false]);
    assert.match(told, /it is broken/);
    assert.match(told, /out of cheese/);
    assert.deepEqual(found[2].content[1].source, { type: "base64", media_type: "image/png", data: PIXEL });
  },

  async calls_are_asked_about_whatever_the_server_claims(world) {
    const asked = [];
    const { server, seen } = calc();
    const canUseTool = async (name, input) => {
      asked.push(name);
      return input.a === 13 ? { behavior: "deny", message: "not thirteen" } : { behavior: "allow", updatedInput: input };
    };
    const calls = [...tool("mcp__calc__add", { a: 13, b: 1 }), ...tool("mcp__calc__add", { a: 2, b: 1 })];
    const { told } = await call(world, calls, { mcpServers: { calc: server }, canUseTool });
    assert.deepEqual(asked, ["mcp__calc__add", "mcp__calc__add"]);
    assert.match(told, /not thirteen/);
    assert.deepEqual(seen, [{ a: 2, b: 1 }]);
  },

  async policies_of_tools(world) {
    const asked = [];
    const tools = [{ name: "add", permission_policy: "always_ask" }, { name: "fail", permission_policy: "always_deny" }];
    const { server, seen } = calc();
    const canUseTool = async (name, input) => {
      asked.push(name);
      return { behavior: "allow", updatedInput: input };
    };
    const more = { mcpServers: { calc: { ...server, tools } }, allowedTools: ["mcp__calc"], canUseTool };
    const calls = [...tool("mcp__calc__add", { a: 1, b: 1 }), ...tool("mcp__calc__fail", {}), ...tool("mcp__calc__draw", {})];
    const { found } = await call(world, calls, more);
    assert.deepEqual(asked, ["mcp__calc__add"]);
    assert.equal(seen.length, 1);
    assert.deepEqual(found.map((block) => Boolean(block.is_error)).sort(), [false, false, true]);
  },

  async a_changed_list(world) {
    const { server } = calc();
    const options = world.options({ mcpServers: { calc: server }, allowedTools: ["mcp__calc"] });
    const { stream, say, end } = session(options);
    const first = await say(play(text("hello")));
    assert.ok(!mcpTools(first).includes("mcp__calc__late"));
    server.instance.registerTool("late", { description: "Came late." }, async () => said("better late"));
    let known = [];
    const look = setInterval(async () => { [{ tools: known }] = await stream.mcpServerStatus(); }, 20);
    await until(() => known.some((found) => found.name === "late"), 20, "the new tool");
    clearInterval(look);
    const second = await say(play(tool("mcp__calc__late", {}), [{ say: "results" }]));
    assert.ok(mcpTools(second).includes("mcp__calc__late"));
    assert.equal(result(second).result, "better late");
    await end();
  },

  async a_call_is_interrupted(world) {
    const { server, waiting } = calc();
    const options = world.options({ mcpServers: { calc: server }, allowedTools: ["mcp__calc"] });
    const { stream, say, end } = session(options);
    const run = say(play(tool("mcp__calc__wait", {}), text("never")));
    await waiting;
    await stream.interrupt();
    assert.equal(result(await run).subtype, "error_during_execution");
    const after = await say(play(tool("mcp__calc__add", { a: 2, b: 2 }), [{ say: "results" }]));
    assert.equal(result(after).result, "4");
    await end();
  },

  async status_and_switches(world) {
    const mcpServers = { calc: calc().server, files: program() };
    const options = world.options({ mcpServers, allowedTools: ["mcp__calc", "mcp__files"] });
    const { stream, say, end } = session(options);
    await say(play(text("hello")));
    const known = await stream.mcpServerStatus();
    assert.deepEqual(states(known), { calc: "connected", files: "connected" });
    assert.deepEqual(known[0].serverInfo, { name: "calc", version: "1.2.3" });
    assert.deepEqual(known[0].tools[0], { name: "add", description: "Adds two numbers.", annotations: { readOnly: true } });
    await stream.toggleMcpServer("files", false);
    assert.deepEqual(states(await stream.mcpServerStatus()), { calc: "connected", files: "disabled" });
    await stream.toggleMcpServer("files", true);
    await stream.reconnectMcpServer("calc");
    assert.deepEqual(states(await stream.mcpServerStatus()), { calc: "connected", files: "connected" });
    await assert.rejects(stream.reconnectMcpServer("nope"), /Server not found: nope/);
    const read = await stream.readMcpResource("files", "file:///x");
    assert.equal(read.contents[0].text, "a resource");
    await end();
  },

  async servers_that_come_with_initialize(world) {
    const more = { mcpServers: { files: program() }, mcpServersDelivery: "initialize", allowedTools: ["mcp__files"] };
    const { told, messages } = await call(world, tool("mcp__files__env", {}), more);
    assert.deepEqual(states(system(messages, "init")[0].mcp_servers), { files: "connected" });
    assert.equal(JSON.parse(framed(told)).ANTHROPIC_API_KEY, undefined);
  },

  async servers_that_the_host_adds(world) {
    const options = world.options({ mcpServers: { files: program() }, allowedTools: ["mcp__calc", "mcp__more"] });
    const { stream, say, end } = session(options);
    await say(play(text("hello")));
    const { server } = calc();
    const bad = { type: "stdio", command: "/no/such/program" };
    const added = await stream.setMcpServers({ calc: server, more: program("more"), bad });
    assert.deepEqual([...added.added].sort(), ["bad", "calc", "more"]);
    assert.deepEqual(states(await stream.mcpServerStatus()), { bad: "failed", calc: "connected", files: "connected", more: "connected" });
    const sum = await say(play(tool("mcp__calc__add", { a: 1, b: 2 }), [{ say: "results" }]));
    assert.equal(result(sum).result, "3");
    const changed = await stream.setMcpServers({ more: program("more") });
    assert.deepEqual([changed.added, [...changed.removed].sort()], [[], ["bad", "calc"]]);
    const after = await say(play(text("hello")));
    assert.deepEqual(mcpTools(after).filter((name) => name.startsWith("mcp__calc")), []);
    await end();
  },

  async questions_of_servers(world) {
    const asked = [];
    const mcpServers = { files: program() };
    const onElicitation = async (request) => {
      asked.push(request);
      return { action: "accept", content: { colour: "red" } };
    };
    const more = { mcpServers, allowedTools: ["mcp__files"], onElicitation };
    const { told } = await call(world, tool("mcp__files__ask", {}), more);
    assert.deepEqual(JSON.parse(framed(told)), { action: "accept", content: { colour: "red" } });
    assert.deepEqual([asked[0].serverName, asked[0].message, asked[0].mode], ["files", "Which colour?", "form"]);
    assert.deepEqual(Object.keys(asked[0].requestedSchema.properties), ["colour"]);
    const unasked = await call(world, tool("mcp__files__ask", {}), { mcpServers, allowedTools: ["mcp__files"] });
    assert.deepEqual(JSON.parse(framed(unasked.told)), { action: "decline" });
  },

  async a_run_that_is_given_up(world) {
    const abortController = new AbortController();
    const { server, waiting } = calc();
    const mcpServers = { calc: server, files: program() };
    const options = world.options({ mcpServers, allowedTools: ["mcp__calc"], abortController });
    const run = collect(query({ prompt: once(play(tool("mcp__calc__wait", {}))), options }));
    await waiting;
    abortController.abort();
    await assert.rejects(run);
  },
});
