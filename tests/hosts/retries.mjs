// Model calls that fail, through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { attempts, blocks, collect, failing, main, play, query, result, session, system, text, tool, turn } from "./common.mjs";

const failure = (status, error, more = {}) => ({ status, error, ...more });
const LIMITED = failure(429, "rate_limit_error", { retry_after: 0 });
const OVERLOADED = failure(529, "overloaded_error", { retry_after: 0 });

const run = (world, steps, more = {}) => collect(query({ prompt: play(...steps), options: world.options(more) }));
const retries = (messages) => system(messages, "api_retry").map((frame) => [frame.attempt, frame.error_status, frame.error]);

await main({
  async rate_limit(world) {
    const messages = await run(world, [attempts(LIMITED, LIMITED, text("at last"))]);
    assert.deepEqual(retries(messages), [[1, 429, "rate_limit"], [2, 429, "rate_limit"]]);
    const end = result(messages);
    assert.deepEqual([end.subtype, end.is_error, end.result, end.num_turns], ["success", false, "at last", 1]);
  },

  async rate_limit_with_a_time_to_wait(world) {
    const began = Date.now();
    const messages = await run(world, [attempts(failure(429, "rate_limit_error", { retry_after: 1 }), text("at last"))]);
    assert.ok(Date.now() - began >= 1000);
    assert.deepEqual(system(messages, "api_retry").map((frame) => frame.retry_delay_ms), [1000]);
  },

  async overloaded(world) {
    const messages = await run(world, [attempts(OVERLOADED, text("at last"))]);
    assert.deepEqual(retries(messages), [[1, 529, "overloaded"]]);
    assert.equal(result(messages).result, "at last");
  },

  async overloaded_with_a_fallback(world) {
    const limited = attempts(OVERLOADED, OVERLOADED, OVERLOADED, [{ say: "model" }]);
    const messages = await run(world, [limited], { model: "claude-sonnet-4-5", fallbackModel: "claude-haiku-4-5" });
    assert.equal(system(messages, "model_fallback").length, 1);
    assert.equal(result(messages).result, "claude-haiku-4-5");
  },

  async a_connection_that_is_closed_before_the_answer(world) {
    const messages = await run(world, [attempts({ close: true }, text("at last"))]);
    assert.deepEqual(retries(messages).map(([attempt, status]) => [attempt, status]), [[1, null]]);
    assert.equal(result(messages).result, "at last");
  },

  async a_connection_that_is_cut_in_mid_stream(world) {
    const cut = attempts([...text("half an ans"), { cut: true }], text("whole"));
    const messages = await run(world, [cut], { includePartialMessages: true });
    assert.equal(retries(messages).length, 1);
    assert.equal(result(messages).result, "whole");
    const [withdrawn] = system(messages, "message_withdrawn");
    const kept = messages.filter((message) => message.type === "assistant" && message.message.id !== withdrawn.message_id);
    assert.deepEqual(kept.map((message) => message.message.content[0].text), ["whole"]);
  },

  async a_call_before_the_cut_is_not_run(world) {
    const append = tool("Bash", { command: "echo x >> twice" });
    const messages = await run(world, [attempts([...append, { cut: true }], append), text("ok")], { allowedTools: ["Bash"] });
    assert.equal(world.read("twice"), "x\n");
    assert.equal(blocks(messages, "tool_result").length, 1);
  },

  async failures_that_are_not_repeated(world) {
    for (const [status, kind, said] of [[400, "invalid_request_error", "invalid_request"], [401, "authentication_error", "authentication_failed"]]) {
      const [messages, thrown] = await failing(query({ prompt: play(failure(status, kind)), options: world.options() }));
      assert.match(thrown, /as scripted/);
      assert.deepEqual(retries(messages), []);
      const end = result(messages);
      assert.deepEqual([end.subtype, end.is_error, end.api_error_status], ["success", true, status]);
      assert.deepEqual(messages.filter((message) => message.type === "assistant").map((message) => message.error), [said]);
    }
  },

  async a_limit_that_does_not_end(world) {
    const env = { ...world.env, CLAUDE_CODE_MAX_RETRIES: "2" };
    const [messages] = await failing(query({ prompt: play(LIMITED), options: world.options({ env }) }));
    assert.equal(retries(messages).length, 2);
    assert.equal(result(messages).api_error_status, 429);
  },

  async a_wait_can_be_interrupted(world) {
    const { stream, talk, say, end } = session(world.options());
    talk.say(play(attempts(failure(429, "rate_limit_error", { retry_after: 200 }), text("never"))));
    for (;;) {
      const { value } = await stream.next();
      if (value.subtype === "api_retry") break;
    }
    await stream.interrupt();
    assert.equal(result(await turn(stream)).subtype, "error_during_execution");
    assert.equal(result(await say(play(text("after")))).result, "after");
    await end();
  },
});
