// What a host does to a running session through the TypeScript Agent SDK: interrupts, changes, questions.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { collect, main, play, query, result, session, system, text, tool, turn, until } from "./common.mjs";

/** Whether `sleep` runs for so many seconds. */
function sleeping(seconds) {
  return readdirSync("/proc").some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(`sleep\0${seconds}\0`);
    } catch {
      return false;
    }
  });
}

await main({
  async interrupt_a_long_command(world) {
    const { stream, say, end } = session(world.options({ allowedTools: ["Bash"] }));
    const first = say(play(tool("Bash", { command: "touch begun; sleep 62; touch ended" }), text("never")));
    await until(() => world.exists("begun"));
    const began = Date.now();
    await stream.interrupt();
    const stopped = result(await first);
    assert.ok(Date.now() - began < 5000);
    assert.deepEqual([stopped.subtype, stopped.is_error, stopped.terminal_reason], ["error_during_execution", true, "aborted_tools"]);
    assert.ok(!sleeping(62));
    assert.equal(result(await say(play(text("after")))).result, "after");
    await end();
    assert.deepEqual(world.files(), ["begun"]);
  },

  async interrupt_a_slow_stream(world) {
    const { stream, talk, say, end } = session(world.options({ includePartialMessages: true }));
    talk.say(play([...text("begun"), { wait: world.path("never") }, ...text("never")]));
    for (;;) {
      const { value } = await stream.next();
      if (value.type === "assistant") break;
    }
    await stream.interrupt();
    assert.equal(result(await turn(stream)).terminal_reason, "aborted_streaming");
    assert.equal(result(await say(play(text("after")))).result, "after");
    await end();
  },

  async interrupt_while_the_host_is_asked(world) {
    let cancelled = false;
    let asked;
    const waiting = new Promise((done) => { asked = done; });
    const canUseTool = (name, input, { signal }) => new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        cancelled = true;
        reject(new Error("cancelled"));
      });
      asked();
    });
    const { stream, say, end } = session(world.options({ canUseTool }));
    const first = say(play(tool("Bash", { command: "touch a" }), text("never")));
    await waiting;
    await stream.interrupt();
    assert.equal(result(await first).terminal_reason, "aborted_tools");
    await until(() => cancelled, 5, "the end of the question");
    assert.equal(result(await say(play(text("after")))).result, "after");
    assert.deepEqual(world.files(), []);
    await end();
  },

  async a_message_sent_while_a_command_runs(world) {
    const { stream, talk, say, end } = session(world.options({ allowedTools: ["Bash"] }));
    const first = say(play(tool("Bash", { command: "touch begun; until [ -e go ]; do sleep 0.01; done" }), text("one")));
    await until(() => world.exists("begun"));
    talk.say(play(text("two")));
    world.write("go", "");
    assert.equal(result(await first).result, "one");
    assert.equal(result(await turn(stream)).result, "two");
    await end();
  },

  async an_urgent_message_stops_the_run(world) {
    const { stream, talk, say, end } = session(world.options({ allowedTools: ["Bash"] }));
    const first = say(play(tool("Bash", { command: "touch begun; sleep 59" }), text("never")));
    await until(() => world.exists("begun"));
    talk.say(play(text("two")), { priority: "now" });
    assert.equal(result(await first).subtype, "error_during_execution");
    assert.equal(result(await turn(stream)).result, "two");
    await end();
  },

  async abort(world) {
    const abortController = new AbortController();
    const options = world.options({ allowedTools: ["Bash"], abortController });
    const reading = collect(query({ prompt: play(tool("Bash", { command: "touch begun; sleep 63" })), options })).catch((error) => error);
    await until(() => world.exists("begun"));
    abortController.abort();
    await reading;
    await until(() => !sleeping(63), 10, "the end of the command");
  },

  async model_and_mode_change(world) {
    const options = world.options({ model: "claude-sonnet-4-5", allowDangerouslySkipPermissions: true });
    const { stream, say, end } = session(options);
    const model = async () => result(await say(play([{ say: "model" }]))).result;
    assert.equal(await model(), "claude-sonnet-4-5");
    await stream.setModel("claude-haiku-4-5");
    assert.equal(await model(), "claude-haiku-4-5");
    await stream.setMaxThinkingTokens(2048);
    const thinking = result(await say(play([{ say: "thinking" }]))).result;
    assert.deepEqual(JSON.parse(thinking), { type: "enabled", budget_tokens: 2048 });
    await stream.setModel();
    assert.equal(await model(), "claude-sonnet-4-5");

    const write = (name) => play(tool("Write", { file_path: world.path(name), content: "x" }), text("ok"));
    const denials = async (name) => result(await say(write(name))).permission_denials.length;
    assert.equal(await denials("a"), 1);
    await stream.setPermissionMode("acceptEdits");
    assert.equal(await denials("a"), 0);
    await stream.setPermissionMode("plan");
    assert.equal(await denials("b"), 1);
    await stream.setPermissionMode("bypassPermissions");
    const messages = await say(write("c"));
    assert.equal(result(messages).permission_denials.length, 0);
    assert.equal(system(messages, "init")[0].permissionMode, "bypassPermissions");
    await assert.rejects(stream.setPermissionMode("nonsense"), /nonsense/);
    assert.deepEqual(world.files(), ["a", "c"]);
    await end();
  },

  async questions_of_the_client(world) {
    const { stream, say, end } = session(world.options());
    assert.ok((await stream.supportedModels()).some((model) => model.value === "opus"));
    assert.deepEqual(await stream.mcpServerStatus(), []);
    assert.equal((await stream.accountInfo()).apiKeySource, "ANTHROPIC_API_KEY");
    await say(play(text("ok")));
    assert.ok((await stream.getContextUsage()).totalTokens > 0);
    await assert.rejects(stream.reconnectMcpServer("nope"), /nope/);
    await assert.rejects(stream.rewindFiles("x"));
    await end();
  },

  async a_stream_that_is_closed_in_mid_run(world) {
    const { stream, say } = session(world.options({ allowedTools: ["Bash"] }));
    const first = say(play(tool("Bash", { command: "touch begun; sleep 56" }), text("never"))).catch((error) => error);
    await until(() => world.exists("begun"));
    stream.close();
    await first;
    await until(() => !sleeping(56), 10, "the end of the command");
  },
});
