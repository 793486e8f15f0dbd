// The conversations of agents on disk and in stores, through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { collect, main, play, query, result, sdk, text, tool } from "./common.mjs";

/** A call that gives an agent a task: what its model says. */
const agent = (steps, kind) => tool("Agent", { description: "Look around", prompt: play(...steps), subagent_type: kind });

const NESTED = play(agent([agent([text("Deep.")], "Explore"), text("It is deep.")], "general-purpose"), text("Done."));

const waiting = (world, more = {}) =>
  world.options({ env: { ...world.env, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" }, ...more });

/** A call of the SDK that looks for sessions in the home of a world. */
async function here(world, call, ...given) {
  process.env.CLAUDE_CONFIG_DIR = world.env.CLAUDE_CONFIG_DIR;
  try {
    return await call(...given, { dir: world.cwd });
  } finally {
    delete process.env.CLAUDE_CONFIG_DIR;
  }
}

/** The lines of a session's agents, by their path below the session's folder. */
function logs(world, id) {
  const projects = join(world.env.CLAUDE_CONFIG_DIR, "projects");
  const [project] = readdirSync(projects);
  const folder = join(projects, project, id);
  const names = readdirSync(join(folder, "subagents")).filter((name) => name.endsWith(".jsonl"));
  return new Map(
    names.map((name) => {
      const lines = readFileSync(join(folder, "subagents", name), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
      return [`subagents/${name.slice(0, -".jsonl".length)}`, lines.filter((line) => line.type !== "windlass-checksum")];
    }),
  );
}

await main({
  async a_store_has_every_line_of_agents(world) {
    const appended = new Map();
    class Store extends sdk.InMemorySessionStore {
      async append(key, entries) {
        if (key.subpath) appended.set(key.subpath, [...(appended.get(key.subpath) ?? []), ...entries]);
        return super.append(key, entries);
      }
    }
    const store = new Store();
    const messages = await collect(query({ prompt: NESTED, options: waiting(world, { sessionStore: store }) }));
    const { session_id: id } = result(messages);
    const written = logs(world, id);
    assert.equal(written.size, 2);
    assert.deepEqual([...appended.keys()].sort(), [...written.keys()].sort());
    for (const [path, lines] of written) {
      const [named, ...rest] = appended.get(path);
      assert.deepEqual([named.type, named.description], ["agent_metadata", "Look around"]);
      assert.deepEqual(rest, lines);
    }
    const found = await here(world, sdk.listSubagents, id);
    assert.equal(found.length, 2);
    const parents = [];
    for (const one of found) {
      const said = await here(world, sdk.getSubagentMessages, id, one);
      assert.ok(said.length >= 2 && said[0].parent_tool_use_id, JSON.stringify(said));
      parents.push(said[0].parent_agent_id);
    }
    const [inner] = parents.filter((parent) => parent !== null);
    assert.deepEqual([parents.filter((parent) => parent === null).length, found.includes(inner)], [1, true]);
    assert.equal((await here(world, sdk.listSessions)).length, 1);
  },

  async results_of_parallel_calls_are_all_there(world) {
    const files = ["one", "two", "three"].map((name) => world.write(name, name));
    const reads = files.flatMap((path) => tool("Read", { file_path: path }));
    const prompt = play(agent([reads, text("All.")], "Explore"), text("Done."));
    const { session_id: id } = result(await collect(query({ prompt, options: waiting(world) })));
    const [one] = await here(world, sdk.listSubagents, id);
    const said = await here(world, sdk.getSubagentMessages, id, one);
    const blocks = said.slice(1).flatMap((message) => message.message.content);
    const ids = (type, name) => blocks.filter((block) => block.type === type).map((block) => block[name]).sort();
    assert.equal(ids("tool_use", "id").length, 3);
    assert.deepEqual(ids("tool_result", "tool_use_id"), ids("tool_use", "id"));
  },
});
