// The built-in tools, called through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { blocks, collect, main, play, query, result, system, tool } from "./common.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Runs calls one after another: what the model is told last, the results and their structured forms. */
async function call(world, calls, more = {}) {
  const prompt = play(...calls, [{ say: "results" }]);
  const messages = await collect(query({ prompt, options: world.options(more) }));
  const found = blocks(messages, "tool_result");
  assert.equal(found.length, calls.flat().length);
  const structured = messages.filter((message) => message.type === "user").map((message) => message.tool_use_result);
  return { told: result(messages).result, found, structured };
}

const failed = (found) => found.map((block) => Boolean(block.is_error));

await main({
  async read(world) {
    const path = world.write("a.txt", "alpha\nbeta\n");
    const whole = await call(world, [tool("Read", { file_path: path })]);
    assert.match(whole.told, /1\talpha\n/);
    assert.deepEqual([whole.structured[0].type, whole.structured[0].file.filePath], ["text", path]);
    const part = await call(world, [tool("Read", { file_path: path, offset: 2, limit: 1 })]);
    assert.match(part.told, /2\tbeta/);
    assert.doesNotMatch(part.told, /alpha/);
    const missing = await call(world, [tool("Read", { file_path: world.path("missing") })]);
    assert.deepEqual(failed(missing.found), [true]);
    assert.match(missing.structured[0], /^Error: /);
  },

  async read_an_image(world) {
    writeFileSync(world.path("a.png"), Buffer.from(PNG, "base64"));
    const prompt = play(tool("Read", { file_path: world.path("a.png") }), [{ say: "images" }]);
    assert.match(result(await collect(query({ prompt, options: world.options() }))).result, /^image\/png:/);
  },

  async write(world) {
    const path = world.path("new/a.txt");
    const acceptEdits = { permissionMode: "acceptEdits" };
    const made = await call(world, [tool("Write", { file_path: path, content: "new\n" })], acceptEdits);
    assert.deepEqual(failed(made.found), [false]);
    assert.equal(made.structured[0].filePath, path);
    assert.equal(world.read("new/a.txt"), "new\n");
    const again = await call(world, [tool("Write", { file_path: path, content: "x" })], acceptEdits);
    assert.deepEqual(failed(again.found), [true]);
    assert.equal(world.read("new/a.txt"), "new\n");
  },

  async edit(world) {
    const path = world.write("a.txt", "alpha alpha\n");
    const change = { file_path: path, old_string: "alpha", new_string: "beta" };
    const calls = [tool("Read", { file_path: path }), tool("Edit", change), tool("Edit", { ...change, replace_all: true })];
    const { found } = await call(world, calls, { permissionMode: "acceptEdits" });
    assert.deepEqual(failed(found), [false, true, false]);
    assert.equal(world.read("a.txt"), "beta beta\n");
  },

  async multi_edit(world) {
    const path = world.write("a.txt", "alpha\nbeta\n");
    const edits = [{ old_string: "alpha", new_string: "one" }, { old_string: "beta", new_string: "two" }];
    const calls = [tool("Read", { file_path: path }), tool("MultiEdit", { file_path: path, edits })];
    assert.deepEqual(failed((await call(world, calls, { permissionMode: "acceptEdits" })).found), [false, false]);
    assert.equal(world.read("a.txt"), "one\ntwo\n");
  },

  async glob(world) {
    for (const name of ["a.rs", "b.py", "c.rs"]) world.write(name, "");
    const { told, structured } = await call(world, [tool("Glob", { pattern: "**/*.rs" })]);
    const names = told.split("\n").filter((line) => line.endsWith(".rs")).map((line) => basename(line));
    assert.deepEqual(names.sort(), ["a.rs", "c.rs"]);
    assert.equal(structured[0].filenames.length, 2);
  },

  async grep(world) {
    world.write("a.txt", "one\nneedle\n");
    world.write("b.txt", "two\n");
    const files = await call(world, [tool("Grep", { pattern: "need.e" })]);
    assert.match(files.told, /a\.txt/);
    assert.doesNotMatch(files.told, /b\.txt/);
    const lines = await call(world, [tool("Grep", { pattern: "need.e", output_mode: "content" })]);
    assert.match(lines.told, /2:needle/);
  },

  async bash(world) {
    mkdirSync(world.path("inner"));
    const calls = ["echo out; echo err >&2", "exit 3", "cd inner", "pwd"].map((command) => tool("Bash", { command }));
    const { told, found, structured } = await call(world, calls, { allowedTools: ["Bash"] });
    assert.deepEqual(failed(found), [false, true, false, false]);
    assert.match(JSON.stringify(structured[0]), /out/);
    assert.match(JSON.stringify(found[0].content), /err/);
    assert.equal(told.trim(), world.path("inner"));
  },

  async todo_write(world) {
    const todos = [{ content: "Look", status: "in_progress", activeForm: "Looking" }];
    const { found, structured } = await call(world, [tool("TodoWrite", { todos })]);
    assert.deepEqual(failed(found), [false]);
    assert.equal(structured[0].newTodos[0].content, "Look");
  },

  async the_set_of_tools(world) {
    const names = async (more) => {
      const messages = await collect(query({ prompt: play([{ say: "tools" }]), options: world.options(more) }));
      // Hosts know the tool for agents by its old name.
      const offered = result(messages).result.split(",").filter(Boolean).map((name) => (name === "Agent" ? "Task" : name)).sort();
      assert.deepEqual(system(messages, "init")[0].tools.toSorted(), offered);
      return offered;
    };
    const everything = await names({});
    for (const name of ["Bash", "Edit", "Glob", "Grep", "MultiEdit", "Read", "Task", "TodoWrite", "Write"]) assert.ok(everything.includes(name));
    assert.deepEqual(await names({ tools: ["Read", "Grep"] }), ["Grep", "Read"]);
    assert.deepEqual(await names({ tools: [] }), []);
    assert.ok(!(await names({ disallowedTools: ["Bash"] })).includes("Bash"));
  },

  async parallel_calls(world) {
    const path = world.write("a.txt", "alpha\n");
    const calls = [...tool("Read", { file_path: path }), ...tool("Grep", { pattern: "alph" }), ...tool("Glob", { pattern: "*.txt" })];
    const asked = [];
    let open;
    const everybody = new Promise((done) => { open = done; });
    const pre = async (input) => {
      asked.push(input.tool_name);
      if (asked.length === calls.length) open();
      await everybody;
      return {};
    };
    const options = world.options({ hooks: { PreToolUse: [{ hooks: [pre] }] } });
    const messages = await collect(query({ prompt: play(calls, [{ say: "results" }]), options }));
    assert.deepEqual(asked.sort(), ["Glob", "Grep", "Read"]);
    const called = blocks(messages, "tool_use").map((block) => block.id);
    assert.deepEqual(blocks(messages, "tool_result").map((block) => block.tool_use_id).sort(), called.sort());
    assert.equal(result(messages).num_turns, 2);
  },
});
