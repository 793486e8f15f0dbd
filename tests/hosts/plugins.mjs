// Plugins through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { collect, framed, main, play, query, result, sdk, session, system, text, tool } from "./common.mjs";

const PYTHON = resolve(process.argv[4]);
const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "programs", "server.py");
const server = (...args) => ({ command: PYTHON, args: [PROGRAM, ...args] });

function put(world, name, content) {
  const path = join(world.root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** A plugin with one of each component that is supported. */
function kit(world, more = {}) {
  put(world, "kit/.claude-plugin/plugin.json", { name: "kit", version: "1.2.0" });
  put(world, "kit/commands/hello.md", "Hello $1. " + play([{ say: "texts" }]));
  put(world, "kit/agents/reader.md", "---\nname: reader\ndescription: Reads\ntools: Read\nmodel: opus\n---\nYou only read.\n");
  put(world, "kit/.mcp.json", { mcpServers: { files: server() } });
  return { type: "local", path: join(world.root, "kit"), ...more };
}

const ask = (world, prompt, more) => collect(query({ prompt, options: world.options(more) }));
const init = (messages) => system(messages, "init")[0];
const servers = (messages) => init(messages).mcp_servers.map(({ name, status, source }) => [name, status, source]);

await main({
  async a_plugin_joins_the_session(world) {
    const plugin = kit(world);
    const one = session(world.options({ plugins: [plugin] }));
    const messages = await one.say("/kit:hello Ada");
    assert.equal(result(messages).result.trim(), "Hello Ada.");
    assert.deepEqual(init(messages).plugins, [{ name: "kit", path: plugin.path, source: "kit@inline", version: "1.2.0" }]);
    assert.equal(init(messages).plugin_errors, undefined);
    assert.deepEqual(servers(messages), [["plugin:kit:files", "connected", "plugin"]]);
    assert.ok((await one.stream.supportedCommands()).some((command) => command.name === "kit:hello"));
    await one.end();
  },

  async a_tool_of_a_plugin_is_callable(world) {
    const name = "mcp__plugin_kit_files__env";
    const prompt = play(tool(name, {}), [{ say: "results" }]);
    const messages = await ask(world, prompt, { plugins: [kit(world)], allowedTools: [name] });
    assert.equal(JSON.parse(framed(result(messages).result)).CLAUDE_PLUGIN_ROOT, join(world.root, "kit"));
    const without = await ask(world, play([{ say: "tools" }]), { plugins: [kit(world, { skipMcpDiscovery: true })] });
    assert.ok(!result(without).result.includes("mcp__plugin"), result(without).result);
    assert.deepEqual([servers(without), init(without).plugins.length], [[], 1]);
  },

  async an_agent_of_a_plugin_is_the_session(world) {
    const more = { plugins: [kit(world)], agent: "kit:reader" };
    const messages = await ask(world, play([{ say: "system" }]), more);
    assert.match(result(messages).result, /You only read\./);
    assert.deepEqual(init(messages).tools, ["Read"]);
  },

  async plugins_can_come_with_initialize(world) {
    const plugins = [kit(world)];
    const one = session(world.options({ plugins, pluginDelivery: "initialize" }));
    const messages = await one.say("/kit:hello Ada");
    assert.equal(result(messages).result.trim(), "Hello Ada.");
    assert.deepEqual(servers(messages), [["plugin:kit:files", "connected", "plugin"]]);
    const said = await one.stream.initializationResult();
    assert.equal(said.plugins_applied, true);
    assert.ok(said.commands.some((command) => command.name === "kit:hello"));
    await one.end();
    const none = session(world.options({ plugins: [{ type: "local", path: "none" }], pluginDelivery: "initialize" }));
    assert.equal(init(await none.say(play(text("x")))).plugin_errors[0].type, "path-not-found");
    assert.equal((await none.stream.initializationResult()).plugins_applied, false);
    await none.end();
  },

  async plugins_are_loaded_again(world) {
    const one = session(world.options({ plugins: [kit(world)] }));
    await one.say(play(text("one")));
    put(world, "kit/commands/new.md", "New. " + play([{ say: "texts" }]));
    const extra = dirname(dirname(put(world, "extra/commands/more.md", "More.")));
    const unchanged = await one.stream.reloadPlugins({ holdOnCacheImpact: true });
    assert.deepEqual([unchanged.held, unchanged.cache_impact], [false, undefined]);
    const reloaded = await one.stream.reloadPlugins({ addPlugins: [{ type: "local", path: extra }] });
    const names = reloaded.commands.map((command) => command.name);
    for (const name of ["kit:hello", "kit:new", "extra:more"]) assert.ok(names.includes(name), names);
    assert.equal(reloaded.agents.find((agent) => agent.name === "kit:reader").model, "opus");
    assert.deepEqual(reloaded.plugins.map((plugin) => plugin.name), ["kit", "extra"]);
    assert.deepEqual(reloaded.mcpServers.map((each) => [each.name, each.source, each.scope]), [["plugin:kit:files", "plugin", "dynamic"]]);
    assert.deepEqual([reloaded.error_count, reloaded.held], [0, undefined]);
    assert.equal(result(await one.say("/kit:new")).result.trim(), "New.");
    // The host may take the place of a plugin's server.
    const set = await one.stream.setMcpServers({ "plugin:kit:files": { type: "stdio", ...server("host") } });
    assert.deepEqual(set.added, ["plugin:kit:files"]);
    assert.deepEqual(servers(await one.say(play(text("x")))), [["plugin:kit:files", "connected", "dynamic"]]);
    await one.end();
  },

  async a_server_inside_the_host_counts_for_more_than_one_of_the_project(world) {
    put(world, "work/.mcp.json", { mcpServers: { calc: server(), other: server() } });
    const add = sdk.tool("add", "Adds.", {}, async () => ({ content: [{ type: "text", text: "added" }] }));
    const mcpServers = { calc: sdk.createSdkMcpServer({ name: "calc", version: "1", tools: [add] }) };
    const one = session(world.options({ mcpServers, settingSources: ["project"] }));
    const messages = await one.say(play([{ say: "tools" }]));
    assert.deepEqual(servers(messages), [["calc", "connected", "sdk"], ["other", "connected", "project"]]);
    assert.ok(result(messages).result.includes("mcp__calc__add"));
    await one.end();
  },
});
