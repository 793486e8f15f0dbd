// The TypeScript SDK drives the agent: `sdk.mjs WINDLASS SDK PYTHON LOG`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

const [windlass, sdk, python, log] = process.argv.slice(2);
const acp = await import(`${sdk}/dist/v1/stable/acp.js`);
const { methods } = acp;
const here = dirname(fileURLToPath(import.meta.url));

const play = (...messages) => "script:" + JSON.stringify(messages);
const text = (said) => [{ text: said }];
const tool = (name, input) => [{ tool: name, input }];
const prompt = (said) => [{ type: "text", text: said }];

const root = realpathSync(mkdtempSync(join(tmpdir(), "windlass-acp-")));
const cwd = join(root, "work");
mkdirSync(cwd);
const wire = spawn(python, [join(here, "../hosts/wire.py")], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((done) => wire.stdout.once("data", (data) => done(String(data).trim())));
const env = {
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: "dummy",
  HOME: root,
  WINDLASS_HOME: join(root, "home"),
  PATH: process.env.PATH,
};
const agent = spawn(python, [join(here, "tap.py"), log, windlass, "acp"], {
  cwd: root,
  env,
  stdio: ["pipe", "pipe", "inherit"],
});
const ended = new Promise((done) => agent.once("exit", done));

let updates = [];
let asked = [];
let kind = "allow_once";
let onUpdate = () => {};
const take = () => updates.splice(0).map((notification) => notification.update);
const said = (all) =>
  all.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.content.text).join("");

const app = acp
  .client({ name: "suite" })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    asked.push(params);
    const chosen = params.options.find((option) => option.kind === kind);
    return { outcome: { outcome: "selected", optionId: chosen.optionId } };
  })
  .onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params);
    onUpdate(params.update);
  });

const tests = {
  async turns(ctx, state) {
    const session = await ctx.request(methods.agent.session.new, { cwd, mcpServers: [] });
    state.session = session.sessionId;
    assert.ok(session.modes.availableModes.length >= 4);
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
    const script = play(
      [{ thinking: "hm" }, ...text("Looking."), ...tool("Read", { file_path: join(cwd, "a.txt") })],
      tool("Edit", { file_path: join(cwd, "a.txt"), old_string: "two", new_string: "three" }),
      tool("TodoWrite", { todos: [{ content: "x", status: "in_progress", activeForm: "xing" }] }),
      tool("Bash", { command: "touch made" }),
      text("Done."),
    );
    const answer = await ctx.request(methods.agent.session.prompt, { sessionId: state.session, prompt: prompt(script) });
    assert.equal(answer.stopReason, "end_turn");
    const all = take();
    assert.ok(said(all).endsWith("Done."), said(all));
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "one\nthree\n");
    assert.deepEqual(asked.map((request) => request.toolCall.kind), ["edit", "execute"]);
    const plans = all.filter((u) => u.sessionUpdate === "plan");
    assert.deepEqual(plans.at(-1).entries, [{ content: "x", priority: "medium", status: "in_progress" }]);
    // Each call ends.
    const calls = new Map();
    for (const update of all.filter((u) => u.toolCallId)) calls.set(update.toolCallId, update.status);
    assert.deepEqual([...calls.values()], ["completed", "completed", "completed", "completed"]);
  },
  async cancelled(ctx) {
    const { sessionId } = await ctx.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const running = new Promise((done) => {
      onUpdate = (u) => u.sessionUpdate === "tool_call_update" && u.status === "in_progress" && done();
    });
    const script = play(tool("Bash", { command: "sleep 60" }));
    const answer = ctx.request(methods.agent.session.prompt, { sessionId, prompt: prompt(script) });
    await running;
    await ctx.notify(methods.agent.session.cancel, { sessionId });
    assert.equal((await answer).stopReason, "cancelled");
    onUpdate = () => {};
  },
  async two_sessions(ctx) {
    const one = await ctx.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const other = await ctx.request(methods.agent.session.new, { cwd, mcpServers: [] });
    take();
    const answers = await Promise.all(
      [one, other].map(({ sessionId }, at) =>
        ctx.request(methods.agent.session.prompt, { sessionId, prompt: prompt(play(text(`answer ${at}`))) }),
      ),
    );
    assert.deepEqual(answers.map((answer) => answer.stopReason), ["end_turn", "end_turn"]);
    for (const [at, { sessionId }] of [one, other].entries()) {
      const own = updates.filter((u) => u.sessionId === sessionId).map((u) => u.update);
      assert.equal(said(own), `answer ${at}`);
    }
    take();
  },
  async stored(ctx, { session }) {
    const listed = await ctx.request(methods.agent.session.list, { cwd });
    assert.ok(listed.sessions.some((entry) => entry.sessionId === session));
    await ctx.request(methods.agent.session.close, { sessionId: session });
    take();
    await ctx.request(methods.agent.session.load, { sessionId: session, cwd, mcpServers: [] });
    const all = take();
    assert.equal(all[0].sessionUpdate, "user_message_chunk");
    assert.ok(all.some((u) => u.content?.[0]?.type === "diff"), "the edit is shown as one");
    assert.ok(said(all).endsWith("Done."));
    await ctx.request(methods.agent.session.delete, { sessionId: session });
    await ctx.request(methods.agent.session.delete, { sessionId: session });
    const unknown = ctx.request(methods.agent.session.load, { sessionId: session, cwd, mcpServers: [] });
    await assert.rejects(unknown, (error) => error.code === -32002);
  },
  async options(ctx) {
    const { sessionId } = await ctx.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const answer = await ctx.request(methods.agent.session.setConfigOption, {
      sessionId, configId: "mode", value: "acceptEdits",
    });
    assert.equal(answer.configOptions.find((option) => option.id === "mode").currentValue, "acceptEdits");
    asked = [];
    const script = play(tool("Write", { file_path: join(cwd, "w.txt"), content: "x\n" }), text("ok"));
    await ctx.request(methods.agent.session.prompt, { sessionId, prompt: prompt(script) });
    assert.equal(asked.length, 0);
    assert.equal(readFileSync(join(cwd, "w.txt"), "utf8"), "x\n");
    const wrong = ctx.request(methods.agent.session.setMode, { sessionId, modeId: "bypassPermissions" });
    await assert.rejects(wrong, (error) => error.code === -32602);
  },
};

const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
let failed = 0;
await app.connectWith(stream, async (ctx) => {
  const started = await ctx.request(methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { session: { notices: {}, compaction: {} } },
    clientInfo: { name: "suite", version: "1" },
  });
  assert.equal(started.protocolVersion, 1);
  assert.equal(started.agentInfo.name, "windlass");
  const state = {};
  for (const [name, run] of Object.entries(tests)) {
    let timer;
    const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error("it took longer than 30 s")), 30_000); });
    try {
      await Promise.race([run(ctx, state), late]);
      console.log(`typescript ${name} ok`);
    } catch (error) {
      failed += 1;
      console.log(`typescript ${name} FAILED\n${error.stack}`);
    }
    clearTimeout(timer);
  }
});
agent.stdin.end();
await ended;
wire.kill();
rmSync(root, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
