// The TypeScript Agent SDK drives windlass. Usage: suite.mjs WINDLASS NODE_MODULES PYTHON [NAME ..]

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [program, modules, python, ...wanted] = process.argv.slice(2);
const CLI = resolve(program);
const sdk = await import(pathToFileURL(join(resolve(modules), "@anthropic-ai/claude-agent-sdk/sdk.mjs")));
const { query } = sdk;

const play = (...messages) => "script:" + JSON.stringify(messages);
const text = (said) => [{ text: said }];
const tool = (name, input) => [{ tool: name, input }];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

class World {
  constructor(url) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "windlass-hosts-")));
    this.cwd = join(this.root, "work");
    mkdirSync(this.cwd);
    this.env = {
      PATH: process.env.PATH,
      HOME: this.root,
      CLAUDE_CONFIG_DIR: join(this.root, "home"),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "dummy",
    };
    this.stderr = "";
  }
  options(more = {}) {
    const stderr = (line) => { this.stderr += line; };
    return { pathToClaudeCodeExecutable: CLI, cwd: this.cwd, env: this.env, stderr, ...more };
  }
  path(name) {
    return join(this.cwd, name);
  }
}

async function collect(stream) {
  const messages = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

function result(messages) {
  const results = messages.filter((message) => message.type === "result");
  assert.equal(results.length, 1);
  return results[0];
}

function blocks(messages, type) {
  const content = (message) => (Array.isArray(message.message?.content) ? message.message.content : []);
  return messages.flatMap(content).filter((block) => block.type === type);
}

async function until(holds, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  while (!holds()) {
    assert.ok(Date.now() < end, "it did not happen in time");
    await sleep(10);
  }
}

/** Prompts that a test gives one by one. */
function conversation() {
  const waiting = [];
  let wake = () => {};
  let ended = false;
  async function* prompts() {
    for (;;) {
      while (waiting.length) yield waiting.shift();
      if (ended) return;
      await new Promise((done) => { wake = done; });
    }
  }
  return {
    prompts: prompts(),
    say(content, more = {}) {
      waiting.push({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, ...more });
      wake();
    },
    end() {
      ended = true;
      wake();
    },
  };
}

/** The messages up to the next result. */
async function turn(stream) {
  const messages = [];
  for (;;) {
    const { value, done } = await stream.next();
    assert.ok(!done, "the stream ended");
    messages.push(value);
    if (value.type === "result") return messages;
  }
}

const tests = {
  async one_shot(world) {
    const messages = await collect(query({ prompt: play(text("Hello.")), options: world.options() }));
    const [init] = messages;
    assert.deepEqual([init.type, init.subtype, init.cwd], ["system", "init", world.cwd]);
    const end = result(messages);
    assert.deepEqual([end.subtype, end.is_error, end.result, end.num_turns], ["success", false, "Hello.", 1]);
    assert.equal(end.session_id, init.session_id);
    assert.ok(Object.keys(end.modelUsage).length === 1 && end.usage.input_tokens > 0);
  },

  async partial_messages(world) {
    const options = world.options({ includePartialMessages: true });
    const messages = await collect(query({ prompt: play([{ thinking: "hm" }, ...text("Hello there.")]), options }));
    const events = messages.filter((message) => message.type === "stream_event").map((message) => message.event);
    assert.equal(events[0].type, "message_start");
    assert.equal(events.at(-1).type, "message_stop");
    assert.equal(events.map((event) => event.delta?.text ?? "").join(""), "Hello there.");
  },

  async built_in_tools_in_parallel(world) {
    writeFileSync(world.path("a.txt"), "alpha\n");
    const script = play(
      [...tool("Read", { file_path: world.path("a.txt") }), ...tool("Grep", { pattern: "alph" }), ...tool("Bash", { command: "pwd" })],
      tool("Edit", { file_path: world.path("a.txt"), old_string: "alpha", new_string: "beta" }),
      [{ say: "results" }],
    );
    const messages = await collect(query({ prompt: script, options: world.options({ permissionMode: "acceptEdits" }) }));
    assert.equal(blocks(messages, "tool_result").length, 4);
    assert.ok(!blocks(messages, "tool_result").some((block) => block.is_error));
    assert.equal(readFileSync(world.path("a.txt"), "utf8"), "beta\n");
  },

  async many_turns_in_one_process(world) {
    const talk = conversation();
    const stream = query({ prompt: talk.prompts, options: world.options() });
    talk.say(play(text("one")));
    assert.equal(result(await turn(stream)).result, "one");
    talk.say(play(text("two")));
    assert.equal(result(await turn(stream)).result, "two");
    const models = await stream.supportedModels();
    assert.ok(models.some((model) => model.value === "opus"));
    assert.deepEqual(await stream.supportedCommands(), []);
    assert.deepEqual(await stream.mcpServerStatus(), []);
    assert.deepEqual(await stream.accountInfo(), {});
    talk.end();
    assert.deepEqual((await collect(stream)).filter((message) => message.type === "result"), []);
  },

  async can_use_tool(world) {
    const asked = [];
    const canUseTool = async (name, input, context) => {
      asked.push([input.command, context.toolUseID, context.suggestions.length > 0]);
      if (input.command.includes("deny")) return { behavior: "deny", message: "not this one" };
      if (input.command.includes("change")) return { behavior: "allow", updatedInput: { command: "touch changed-by-host" } };
      return { behavior: "allow", updatedInput: input };
    };
    const script = play(
      tool("Bash", { command: "touch plain" }),
      tool("Bash", { command: "touch deny-me" }),
      tool("Bash", { command: "touch change-me" }),
      [{ say: "results" }],
    );
    const messages = await collect(query({ prompt: script, options: world.options({ canUseTool }) }));
    assert.deepEqual(asked.map(([command]) => command), ["touch plain", "touch deny-me", "touch change-me"]);
    assert.ok(asked.every(([, id, suggested]) => id.startsWith("toolu_") && suggested));
    assert.deepEqual(readdirSync(world.cwd).sort(), ["changed-by-host", "plain"]);
    assert.match(JSON.stringify(blocks(messages, "tool_result")[1]), /not this one/);
    assert.equal(result(messages).permission_denials.length, 1);
  },

  async hooks(world) {
    const seen = [];
    const pre = async (input, id) => {
      seen.push(input.hook_event_name);
      assert.ok(id.startsWith("toolu_"));
      const deny = input.tool_input.command.includes("forbidden");
      return {
        hookSpecificOutput: deny
          ? { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "the hook says no" }
          : { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { command: "echo rewritten" } },
      };
    };
    const post = async (input) => {
      seen.push(input.hook_event_name);
      assert.match(JSON.stringify(input.tool_response), /rewritten/);
      return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "context of the hook" } };
    };
    const failure = async (input) => {
      seen.push(input.hook_event_name);
      return {};
    };
    let stops = 0;
    const stop = async () => (stops++ ? {} : { decision: "block", reason: "go on a little" });
    const hooks = {
      PreToolUse: [{ matcher: "Bash", hooks: [pre] }],
      PostToolUse: [{ hooks: [post] }],
      PostToolUseFailure: [{ matcher: "Read", hooks: [failure] }],
      Stop: [{ hooks: [stop] }],
    };
    const script = play(
      tool("Bash", { command: "touch forbidden" }),
      tool("Bash", { command: "touch made" }),
      tool("Read", { file_path: world.path("missing") }),
      text("first end"),
      [{ say: "texts" }],
    );
    const messages = await collect(query({ prompt: script, options: world.options({ hooks }) }));
    assert.deepEqual(seen, ["PreToolUse", "PreToolUse", "PostToolUse", "PostToolUseFailure"]);
    assert.deepEqual(readdirSync(world.cwd), []);
    const end = result(messages).result;
    assert.match(end, /context of the hook/);
    assert.match(end, /go on a little/);
    assert.equal(stops, 2);
  },

  async interrupt_a_long_command(world) {
    const talk = conversation();
    const stream = query({ prompt: talk.prompts, options: world.options({ allowedTools: ["Bash"] }) });
    talk.say(play(tool("Bash", { command: "touch begun; sleep 62; touch ended" }), text("never")));
    const first = turn(stream);
    await until(() => existsSync(world.path("begun")));
    const began = Date.now();
    await stream.interrupt();
    const end = result(await first);
    assert.ok(Date.now() - began < 5000);
    assert.deepEqual([end.subtype, end.is_error, end.terminal_reason], ["error_during_execution", true, "aborted_tools"]);
    talk.say(play(text("after")));
    assert.equal(result(await turn(stream)).result, "after");
    talk.end();
    await collect(stream);
  },

  async abort(world) {
    const abortController = new AbortController();
    const options = world.options({ allowedTools: ["Bash"], abortController });
    const stream = query({ prompt: play(tool("Bash", { command: "touch begun; sleep 63" })), options });
    const reading = collect(stream).catch((error) => error);
    await until(() => existsSync(world.path("begun")));
    abortController.abort();
    await reading;
    const sleeping = () =>
      readdirSync("/proc").some((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep\0" + "63");
        } catch {
          return false;
        }
      });
    await until(() => !sleeping(), 10);
  },

  async model_and_mode_change(world) {
    const talk = conversation();
    const options = world.options({ model: "claude-sonnet-4-5", allowDangerouslySkipPermissions: true });
    const stream = query({ prompt: talk.prompts, options });
    const said = async (content) => {
      talk.say(content);
      return result(await turn(stream));
    };
    assert.equal((await said(play([{ say: "model" }]))).result, "claude-sonnet-4-5");
    await stream.setModel("claude-haiku-4-5");
    assert.equal((await said(play([{ say: "model" }]))).result, "claude-haiku-4-5");
    await stream.setMaxThinkingTokens(2048);
    assert.deepEqual(JSON.parse((await said(play([{ say: "thinking" }]))).result), { type: "enabled", budget_tokens: 2048 });
    const write = play(tool("Write", { file_path: world.path("a"), content: "x" }), text("ok"));
    assert.equal((await said(write)).permission_denials.length, 1);
    await stream.setPermissionMode("bypassPermissions");
    assert.equal((await said(write)).permission_denials.length, 0);
    await assert.rejects(stream.setPermissionMode("nonsense"), /nonsense/);
    talk.end();
    await collect(stream);
  },

  async resume(world) {
    const first = result(await collect(query({ prompt: "remember blue " + play(text("x")), options: world.options() })));
    for (const more of [{ resume: first.session_id }, { continue: true }]) {
      const end = result(await collect(query({ prompt: play([{ say: "texts" }]), options: world.options(more) })));
      assert.equal(end.session_id, first.session_id);
      assert.match(end.result, /remember blue/);
    }
  },

  async system_prompts(world) {
    const system = async (more) =>
      result(await collect(query({ prompt: play([{ say: "system" }]), options: world.options(more) }))).result;
    assert.match(await system({ systemPrompt: "You are a test." }), /You are a test\./);
    assert.equal(await system({}), '""');
    const append = { type: "preset", preset: "claude_code", append: "And a test." };
    assert.match(await system({ systemPrompt: append }), /coding agent.*And a test\./s);
  },

  async limits_and_failures(world) {
    const messages = [];
    const stream = query({ prompt: play(...Array(3).fill(tool("Bash", { command: "pwd" }))), options: world.options({ maxTurns: 2 }) });
    try {
      for await (const message of stream) messages.push(message);
    } catch (error) {
      assert.match(String(error), /maximum number of turns \(2\)/);
    }
    assert.equal(result(messages).subtype, "error_max_turns");
  },

  async many_clients(world) {
    const one = async (number) => {
      const prompt = play(tool("Bash", { command: `echo ${number}` }), [{ say: "results" }]);
      return result(await collect(query({ prompt, options: world.options({ allowedTools: ["Bash"] }) }))).result.trim();
    };
    const answers = await Promise.all([...Array(20).keys()].map(one));
    assert.deepEqual(answers, [...Array(20).keys()].map(String));
  },
};

const server = spawn(python, [join(dirname(fileURLToPath(import.meta.url)), "wire.py")], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  if (wanted.length && !wanted.includes(name)) continue;
  const world = new World(url);
  const began = Date.now();
  let verdict = "ok";
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error("it took too long")), 90_000); });
  try {
    await Promise.race([run(world), late]);
  } catch (error) {
    failed += 1;
    verdict = `FAILED\n${error.stack}\n${world.stderr}`;
  }
  clearTimeout(timer);
  console.log(`${name} ${((Date.now() - began) / 1000).toFixed(2)} s ${verdict}`);
}
server.kill();
console.log(`typescript: ${failed} failed`);
process.exit(failed ? 1 : 0);
