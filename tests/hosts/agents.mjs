// A session that is an agent, through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { collect, main, play, query, result, sdk, session, system, text, tool } from "./common.mjs";

const reviewer = (more = {}) => ({ reviewer: { description: "Reviews", prompt: "You only review.", ...more } });
const says = (what) => play([{ say: what }]);

async function ask(world, prompt, agents, more = {}) {
  return await collect(query({ prompt, options: world.options({ agent: "reviewer", agents, ...more }) }));
}

const answer = async (...given) => result(await ask(...given)).result;

function calc(names) {
  const tools = names.map((name) => sdk.tool(name, "A test.", {}, async () => ({ content: [{ type: "text", text: name }] })));
  return sdk.createSdkMcpServer({ name: "calc", version: "1.2.3", tools });
}

async function* once(content) {
  yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
}

await main({
  async an_agent_has_its_tools_only(world) {
    const messages = await ask(world, says("tools"), reviewer({ tools: ["Read", "Grep"] }));
    assert.deepEqual(result(messages).result.split(",").sort(), ["Grep", "Read"]);
    assert.deepEqual([...system(messages, "init")[0].tools].sort(), ["Grep", "Read"]);
    const bash = play(tool("Bash", { command: "touch made" }), [{ say: "results" }]);
    const bypass = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
    await ask(world, bash, reviewer({ tools: ["Read"] }), bypass);
    assert.deepEqual(world.files(), []);
    assert.equal(await answer(world, says("tools"), reviewer({ tools: ["Read", "Grep"] }), { tools: ["Read", "Bash"] }), "Read");
  },

  async tools_of_servers_are_named_like_others(world) {
    for (const [tools, expected] of [
      [["Read"], ["Read"]],
      [["Read", "mcp__calc"], ["Read", "mcp__calc__add", "mcp__calc__sub"]],
      [["mcp__calc__*"], ["mcp__calc__add", "mcp__calc__sub"]],
      [["mcp__calc__add"], ["mcp__calc__add"]],
    ]) {
      const more = { mcpServers: { calc: calc(["add", "sub"]) } };
      const said = await answer(world, once(says("tools")), reviewer({ tools }), more);
      assert.deepEqual(said.split(",").sort(), expected);
    }
    const more = { mcpServers: { calc: calc(["add"]) } };
    const said = await answer(world, once(says("tools")), reviewer({ disallowedTools: ["mcp__calc"] }), more);
    assert.ok(!said.includes("mcp__calc") && said.includes("Read"), said);
  },

  async the_prompt_of_an_agent_is_the_system_prompt(world) {
    const own = await answer(world, says("system"), reviewer());
    assert.match(own, /You only review\./);
    const preset = { type: "preset", preset: "claude_code", append: "And be brief." };
    const appended = await answer(world, says("system"), reviewer(), { systemPrompt: preset });
    assert.match(appended, /You only review\..*And be brief\./s);
    const hosts = await answer(world, says("system"), reviewer(), { systemPrompt: "The host's own." });
    assert.match(hosts, /The host's own\./);
    assert.doesNotMatch(hosts, /You only review/);
  },

  async the_model_of_an_agent_yields_to_the_host(world) {
    const agents = reviewer({ model: "claude-agents-own" });
    assert.equal(await answer(world, says("model"), agents), "claude-agents-own");
    assert.equal(await answer(world, says("model"), agents, { model: "claude-the-options" }), "claude-the-options");
    const talk = session(world.options({ agent: "reviewer", agents }));
    const model = async () => result(await talk.say(says("model"))).result;
    assert.equal(await model(), "claude-agents-own");
    await talk.stream.setModel("claude-set-later");
    assert.equal(await model(), "claude-set-later");
    await talk.stream.setModel();
    assert.equal(await model(), "claude-agents-own");
    await talk.end();
  },

  async an_agent_begins_with_its_own_words(world) {
    const talk = session(world.options({ agent: "reviewer", agents: reviewer({ initialPrompt: "First of all." }) }));
    const first = result(await talk.say("HOST " + says("texts"))).result;
    assert.deepEqual(first.split("\n"), ["First of all.", "HOST "]);
    const second = result(await talk.say("MORE " + says("texts"))).result;
    assert.equal(second.split("First of all.").length, 2);
    await talk.end();
  },

  async an_unknown_agent_is_an_error_that_names_the_others(world) {
    const failed = collect(query({ prompt: play(text("one")), options: world.options({ agent: "other", agents: reviewer() }) }));
    const said = await failed.then((messages) => JSON.stringify(messages), (error) => String(error) + world.stderr);
    assert.match(said, /other/);
    assert.match(said, /reviewer/);
  },
});
