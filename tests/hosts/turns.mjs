// Prompts, answers, sessions and limits through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import {
  blocks, collect, conversation, failing, main, play, query, result, sdk, session, system, text, tool, until,
} from "./common.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const ask = async (world, steps, more = {}) => result(await collect(query({ prompt: play(...steps), options: world.options(more) })));

/** Begins a turn whose call does not end before there is a file `go`, and sends a message that is to join it. */
async function duringATool(world, talk, stream, said, ...after) {
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  const slow = tool("Bash", { command: "touch begun; until [ -e go ]; do sleep 0.02; done" });
  talk.say(play(slow, ...after), { uuid: first });
  const lives = [];
  const rest = (async () => {
    const messages = [];
    for await (const message of stream) {
      messages.push(message);
      if (message.type === "command_lifecycle") lives.push([message.command_uuid, message.state].join());
    }
    return messages;
  })();
  await until(() => world.exists("begun"));
  talk.say(said, { uuid: second, priority: "next" });
  await until(() => lives.includes(`${second},queued`));
  return { first, second, rest, lives: () => lives.filter((life) => life.startsWith(second)).map((life) => life.slice(37)) };
}

const results = (messages) => messages.filter((message) => message.type === "result");

await main({
  async one_shot(world) {
    const messages = await collect(query({ prompt: play(text("Hello.")), options: world.options() }));
    const [init] = messages;
    assert.deepEqual([init.type, init.subtype, init.cwd], ["system", "init", world.cwd]);
    const end = result(messages);
    assert.deepEqual([end.subtype, end.is_error, end.result, end.num_turns], ["success", false, "Hello.", 1]);
    assert.equal(end.session_id, init.session_id);
    assert.ok(Object.keys(end.modelUsage).length === 1 && end.usage.input_tokens > 0);
    for (const message of messages) assert.match(message.uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  },

  async partial_messages(world) {
    const options = world.options({ includePartialMessages: true });
    const messages = await collect(query({ prompt: play([{ thinking: "hm" }, ...text("Hello there.")]), options }));
    const events = messages.filter((message) => message.type === "stream_event").map((message) => message.event);
    assert.equal(events[0].type, "message_start");
    assert.equal(events.at(-1).type, "message_stop");
    assert.equal(events.map((event) => event.delta?.text ?? "").join(""), "Hello there.");
    assert.equal(blocks(messages, "thinking")[0].thinking, "hm");
  },

  async many_turns_in_one_process(world) {
    const { stream, say, end } = session(world.options());
    const ids = new Set();
    for (const said of ["one", "two", "three"]) {
      const one = result(await say("remember blue " + play(text(said))));
      assert.equal(one.result, said);
      ids.add(one.session_id);
    }
    assert.equal(ids.size, 1);
    assert.match(result(await say(play([{ say: "texts" }]))).result, /remember blue/);
    assert.ok((await stream.supportedModels()).length);
    assert.deepEqual((await end()).filter((message) => message.type === "result"), []);
  },

  async queued_messages_have_a_result_each(world) {
    const talk = conversation();
    for (const said of ["one", "two", "three"]) talk.say(play(text(said)));
    talk.end();
    const messages = await collect(query({ prompt: talk.prompts, options: world.options() }));
    const results = messages.filter((message) => message.type === "result").map((message) => message.result);
    assert.deepEqual(results, ["one", "two", "three"]);
    assert.equal(system(messages, "init").length, 3);
  },

  async a_message_that_is_next_joins_the_turn(world) {
    const { talk, stream } = session(world.options({ allowedTools: ["Bash"], extraArgs: { "replay-user-messages": null } }));
    const sent = await duringATool(world, talk, stream, "mind this", [{ say: "last" }]);
    world.write("go", "");
    talk.end();
    const messages = await sent.rest;
    const end = result(messages);
    assert.deepEqual([end.result, end.num_turns], ["result,mind this", 2]);
    assert.deepEqual([end.user_message_uuid, end.user_message_uuids], [sent.first, [sent.first, sent.second]]);
    assert.deepEqual(sent.lives(), ["queued", "started", "completed"]);
    const replay = messages.find((message) => message.isReplay && message.uuid === sent.second);
    assert.equal(replay.message.content, "mind this");
    // It keeps its id in the log.
    process.env.CLAUDE_CONFIG_DIR = world.env.CLAUDE_CONFIG_DIR;
    try {
      const stored = await sdk.getSessionMessages(end.session_id, { dir: world.cwd });
      assert.ok(stored.some((message) => message.uuid === sent.second));
    } finally {
      delete process.env.CLAUDE_CONFIG_DIR;
    }
  },

  async hooks_keep_a_message_out_of_the_turn(world) {
    const gate = async ({ prompt }) => (prompt === "mind this" ? { decision: "block", reason: "not that" } : {});
    const hooks = { UserPromptSubmit: [{ hooks: [gate] }] };
    const { talk, stream } = session(world.options({ allowedTools: ["Bash"], hooks }));
    const sent = await duringATool(world, talk, stream, "mind this", [{ say: "last" }]);
    await until(() => sent.lives().includes("cancelled"));
    world.write("go", "");
    talk.end();
    const messages = await sent.rest;
    assert.deepEqual([result(messages).result, result(messages).user_message_uuids], ["result", [sent.first]]);
    assert.match(system(messages, "informational").map((told) => told.content).join(), /not that/);
    assert.deepEqual(sent.lives(), ["queued", "cancelled"]);
  },

  async an_interrupt_gives_a_message_that_is_next_a_turn_of_its_own(world) {
    const { talk, stream } = session(world.options({ allowedTools: ["Bash"] }));
    const sent = await duringATool(world, talk, stream, play(text("own")), text("never"));
    const receipt = await stream.interrupt();
    assert.deepEqual(receipt.still_queued, [sent.second]);
    talk.end();
    const ends = results(await sent.rest);
    assert.deepEqual(ends.map((end) => end.user_message_uuids), [[sent.first], [sent.second]]);
    assert.deepEqual(ends.map((end) => end.result), [undefined, "own"]);
    assert.deepEqual(sent.lives(), ["queued", "started", "completed"]);
  },

  async images_in_prompts(world) {
    const { say, end } = session(world.options());
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
    const messages = await say([{ type: "text", text: play([{ say: "images" }]) }, image]);
    assert.equal(result(messages).result, `image/png:${PNG.length}`);
    await end();
  },

  async prompts_in_every_script(world) {
    const prompt = "Grüße, 世界 🌍 \u2028 \u0000 \" \\ \n";
    const { say, end } = session(world.options());
    const messages = await say([{ type: "text", text: prompt }, { type: "text", text: play([{ say: "texts" }]) }]);
    assert.equal(result(messages).result, prompt);
    await end();
  },

  async system_prompts(world) {
    const prompt = async (more) => (await ask(world, [[{ say: "system" }]], more)).result;
    assert.match(await prompt({ systemPrompt: "You are a test." }), /You are a test\./);
    assert.equal(await prompt({}), '""');
    const append = { type: "preset", preset: "claude_code", append: "And a test." };
    assert.match(await prompt({ systemPrompt: append }), /coding agent.*And a test\./s);
  },

  async thinking(world) {
    const budget = { thinking: { type: "enabled", budgetTokens: 2048 }, model: "claude-sonnet-4-5" };
    const end = await ask(world, [[{ say: "thinking" }]], budget);
    assert.deepEqual(JSON.parse(end.result), { type: "enabled", budget_tokens: 2048 });
  },

  async unknown_flags_do_not_matter(world) {
    const more = { extraArgs: { "from-the-future": null, "and-beyond": "x" }, settingSources: [] };
    assert.equal((await ask(world, [text("ok")], more)).result, "ok");
    assert.match(world.stderr, /from-the-future/);
  },

  async max_turns(world) {
    const prompt = play(...Array(3).fill(tool("Bash", { command: "pwd" })));
    const [messages, thrown] = await failing(query({ prompt, options: world.options({ maxTurns: 2 }) }));
    assert.match(thrown, /maximum number of turns \(2\)/);
    const end = result(messages);
    assert.deepEqual([end.subtype, end.is_error, end.terminal_reason], ["error_max_turns", true, "max_turns"]);
  },

  async budget(world) {
    const dear = [{ usage: { input_tokens: 100_000 } }, ...tool("Bash", { command: "pwd" })];
    const options = world.options({ maxBudgetUsd: 0.5, model: "claude-sonnet-4-5" });
    const [messages, thrown] = await failing(query({ prompt: play(dear, dear, dear, text("never")), options }));
    assert.match(thrown, /maximum budget \(\$0\.5\)/);
    const end = result(messages);
    assert.deepEqual([end.subtype, end.is_error, end.terminal_reason], ["error_max_budget_usd", true, "budget_exhausted"]);
    assert.ok(end.total_cost_usd >= 0.5 && end.total_cost_usd < 1);
  },

  async resume_and_continue(world) {
    const first = result(await collect(query({ prompt: "remember blue " + play(text("x")), options: world.options() })));
    for (const more of [{ resume: first.session_id }, { continue: true }]) {
      const end = await ask(world, [[{ say: "texts" }]], more);
      assert.equal(end.session_id, first.session_id);
      assert.match(end.result, /remember blue/);
    }
    const sessionId = "12345678-1234-4234-8234-123456789abc";
    assert.equal((await ask(world, [text("x")], { sessionId })).session_id, sessionId);
    const gone = query({ prompt: "x", options: world.options({ resume: "aaaaaaaa-1111-4111-8111-111111111111" }) });
    const [, thrown] = await failing(gone);
    assert.match(thrown, /No conversation found with session ID/);
  },

  async resume_after_an_interrupt(world) {
    const { stream, say, end } = session(world.options({ allowedTools: ["Bash"] }));
    const first = say(play(tool("Bash", { command: "touch begun; sleep 55" }), text("never")));
    await until(() => world.exists("begun"));
    await stream.interrupt();
    const resume = result(await first).session_id;
    // The last result was an error, and so is the exit code.
    await assert.rejects(end(), /interrupted/);
    assert.equal((await ask(world, [text("again")], { resume })).result, "again");
  },

  async the_helpers_find_our_sessions(world) {
    const end = await ask(world, [text("stored")]);
    process.env.CLAUDE_CONFIG_DIR = world.env.CLAUDE_CONFIG_DIR;
    try {
      const sessions = await sdk.listSessions({ dir: world.cwd });
      assert.deepEqual(sessions.map((info) => info.sessionId), [end.session_id]);
      const messages = await sdk.getSessionMessages(end.session_id, { dir: world.cwd });
      assert.deepEqual(messages.map((message) => message.type), ["user", "assistant"]);
    } finally {
      delete process.env.CLAUDE_CONFIG_DIR;
    }
  },

  async a_session_that_is_not_kept(world) {
    const end = await ask(world, [text("ok")], { persistSession: false });
    const [, thrown] = await failing(query({ prompt: "x", options: world.options({ resume: end.session_id }) }));
    assert.match(thrown, /No conversation found/);
  },

  async many_clients(world) {
    const one = async (number) => {
      const { say, end } = session(world.options({ allowedTools: ["Bash"] }));
      const first = result(await say(play(tool("Bash", { command: `echo ${number}` }), [{ say: "results" }])));
      const second = result(await say(play(text(`again ${number}`))));
      await end();
      return [first.result.trim(), second.result];
    };
    const numbers = [...Array(50).keys()];
    assert.deepEqual(await Promise.all(numbers.map(one)), numbers.map((number) => [String(number), `again ${number}`]));
  },
});
