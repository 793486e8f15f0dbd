// Sessions through the TypeScript Agent SDK: its helpers on our files, copies, earlier points, and its stores.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { collect, failing, main, play, query, result, sdk, session, system, text, tool } from "./common.mjs";

const UNKNOWN = "99999999-9999-4999-8999-999999999999";

const run = (world, prompt, more = {}) => collect(query({ prompt, options: world.options(more) }));
const ask = async (world, prompt, more) => result(await run(world, prompt, more));
/** What the model hears of what the user said. */
const heard = (world, more) => ask(world, play([{ say: "texts" }]), more);

async function refused(world, prompt, more) {
  const [messages, error] = await failing(query({ prompt, options: world.options(more) }));
  return [result(messages), error];
}

/** Helpers look for sessions where the environment of this process says. */
async function inHome(world, helper) {
  const before = process.env.CLAUDE_CONFIG_DIR;
  process.env.CLAUDE_CONFIG_DIR = world.env.CLAUDE_CONFIG_DIR;
  try {
    return await helper({ dir: world.cwd });
  } finally {
    if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
    else process.env.CLAUDE_CONFIG_DIR = before;
  }
}

const project = (world) => world.cwd.replace(/[^A-Za-z0-9]/g, "-");
const log = (world, id) => join(world.env.CLAUDE_CONFIG_DIR, "projects", project(world), `${id}.jsonl`);
const lines = (path) => readFileSync(path, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));

/** A session in which the user said one, two and three. */
async function threeTurns(world) {
  const { session_id: id } = await ask(world, "one " + play(text("a")));
  for (const said of ["two", "three"]) await ask(world, `${said} ` + play(text(said)), { resume: id });
  return id;
}

const uuids = async (world, id) => (await inHome(world, (at) => sdk.getSessionMessages(id, at))).map((message) => message.uuid);

/** A machine that has only the store. */
function elsewhere(world, name) {
  const root = join(world.root, name);
  return { env: { ...world.env, HOME: root, CLAUDE_CONFIG_DIR: join(root, "home") } };
}

const stored = (store, world, id) => store.load({ projectKey: project(world), sessionId: id });

await main({
  async a_fork_goes_its_own_way(world) {
    const source = await threeTurns(world);
    const before = readFileSync(log(world, source));
    const end = await heard(world, { resume: source, forkSession: true });
    assert.match(end.result, /one[^]*two[^]*three/);
    assert.notEqual(end.session_id, source);
    assert.deepEqual(readFileSync(log(world, source)), before);
    const sessionId = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    assert.equal((await heard(world, { resume: source, forkSession: true, sessionId })).session_id, sessionId);
    const next = await heard(world, { continue: true, forkSession: true });
    assert.ok(![source, sessionId, end.session_id].includes(next.session_id));
    assert.equal((await heard(world, { resume: end.session_id })).result, end.result);
  },

  async a_session_that_is_not_there(world) {
    const [end] = await refused(world, "x", { resume: UNKNOWN });
    assert.deepEqual([end.subtype, end.num_turns, end.errors], ["error_during_execution", 0, [`No conversation found with session ID: ${UNKNOWN}`]]);
  },

  async the_helpers_on_our_sessions(world) {
    const source = await threeTurns(world);
    assert.deepEqual((await inHome(world, (at) => sdk.listSessions(at))).map((info) => info.sessionId), [source]);
    let info = await inHome(world, (at) => sdk.getSessionInfo(source, at));
    assert.match(info.firstPrompt, /one/);
    assert.equal(info.cwd, world.cwd);
    const messages = await inHome(world, (at) => sdk.getSessionMessages(source, at));
    assert.deepEqual(messages.map((message) => message.type), ["user", "assistant", "user", "assistant", "user", "assistant"]);
    await inHome(world, (at) => sdk.renameSession(source, " A title ", at));
    await inHome(world, (at) => sdk.tagSession(source, "mine", at));
    info = await inHome(world, (at) => sdk.getSessionInfo(source, at));
    assert.deepEqual([info.summary, info.customTitle, info.tag], ["A title", "A title", "mine"]);
    assert.match((await heard(world, { resume: source })).result, /three/);
    const { sessionId: fork } = await inHome(world, (at) => sdk.forkSession(source, { ...at, upToMessageId: messages[3].uuid }));
    const end = await heard(world, { resume: fork });
    assert.equal(end.session_id, fork);
    assert.match(end.result, /two/);
    assert.doesNotMatch(end.result, /three/);
    await inHome(world, (at) => sdk.deleteSession(fork, at));
    assert.deepEqual((await inHome(world, (at) => sdk.listSessions(at))).map((one) => one.sessionId), [source]);
    // And a fork of ours through the helpers.
    const ours = (await heard(world, { resume: source, forkSession: true })).session_id;
    assert.equal((await uuids(world, ours)).length, 10);
    assert.match((await inHome(world, (at) => sdk.getSessionInfo(ours, at))).firstPrompt, /one/);
  },

  async going_back_to_a_message(world) {
    const source = await threeTurns(world);
    const [, a, two, b, three] = await uuids(world, source);
    let end = await heard(world, { resume: source, resumeSessionAt: a, forkSession: true });
    assert.doesNotMatch(end.result, /two/);
    for (const [at, drops] of [[a, two], [b, UNKNOWN]]) {
      const [refusal, error] = await refused(world, "x", { resume: source, resumeSessionAt: at, resumeDropsTurn: drops });
      assert.match(refusal.errors[0], /^Resume rejected by --resume-drops-turn:/);
      assert.match(error, /Resume rejected by --resume-drops-turn:/);
    }
    const [unknown] = await refused(world, "x", { resume: source, resumeSessionAt: UNKNOWN });
    assert.deepEqual(unknown.errors, [`No message found with message.uuid of: ${UNKNOWN}`]);
    end = await heard(world, { resume: source, resumeSessionAt: b, resumeDropsTurn: three });
    assert.match(end.result, /two/);
    assert.doesNotMatch(end.result, /three/);
    end = await heard(world, { resume: source });
    assert.doesNotMatch(end.result, /three/);
    // The id of a live message is one as well.
    const live = (await run(world, "five " + play(text("five")), { resume: source })).filter((message) => message.type === "assistant");
    await ask(world, "six " + play(text("six")), { resume: source });
    end = await heard(world, { resume: source, resumeSessionAt: live[0].uuid });
    assert.match(end.result, /five/);
    assert.doesNotMatch(end.result, /six/);
  },

  async going_back_into_a_batch_of_tools(world) {
    const [a, b] = [world.write("a.txt", "alpha"), world.write("b.txt", "beta")];
    const batch = [...text("Looking."), ...tool("Read", { file_path: a }), ...tool("Read", { file_path: b })];
    const live = await run(world, "look " + play(batch, text("seen")));
    const points = live.filter((message) => message.uuid && ["assistant", "user"].includes(message.type)).slice(0, 5);
    assert.deepEqual(points.map((message) => message.type), ["assistant", "assistant", "assistant", "user", "user"]);
    for (const { uuid } of points) {
      const more = { resume: result(live).session_id, resumeSessionAt: uuid, forkSession: true };
      const end = await ask(world, play([{ say: "results" }]), more);
      assert.match(end.result, /alpha[^]*beta|beta[^]*alpha/);
      assert.doesNotMatch(end.result, /ERROR/);
    }
  },

  async nothing_is_kept(world) {
    await ask(world, play(text("x")), { persistSession: false });
    assert.deepEqual(await inHome(world, (at) => sdk.listSessions(at)), []);
  },

  async the_least_of_another_program(world) {
    const id = "12345678-1234-4234-8234-123456789abc";
    const [one, two] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    const shared = { isSidechain: false, cwd: world.cwd, sessionId: id, version: "2.1.328" };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: text("hello").map((block) => ({ type: "text", ...block })), stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    const chain = [
      { parentUuid: null, type: "user", message: { role: "user", content: "hi" }, uuid: one, timestamp: "2026-01-01T00:00:00.000Z" },
      { parentUuid: one, type: "assistant", message, uuid: two, timestamp: "2026-01-01T00:00:01.000Z" },
    ];
    mkdirSync(join(log(world, id), ".."), { recursive: true });
    writeFileSync(log(world, id), chain.map((line) => JSON.stringify({ ...shared, ...line }) + "\n").join(""));
    for (const more of [{ resume: id, forkSession: true }, { resume: id }, { continue: true }]) {
      assert.match((await heard(world, more)).result, /hi/);
    }
  },

  async a_store_has_every_line_before_the_result(world) {
    const store = new sdk.InMemorySessionStore();
    const file = world.write("a.txt", "alpha");
    const stream = query({ prompt: "one " + play(tool("Read", { file_path: file }), text("ok")), options: world.options({ sessionStore: store }) });
    let id;
    for await (const message of stream) {
      if (message.type !== "result") continue;
      id = message.session_id;
      assert.match(JSON.stringify(await stored(store, world, id)), /ok/);
    }
    assert.deepEqual(await stored(store, world, id), lines(log(world, id)).filter((line) => line.type !== "windlass-checksum"));
    const talk = session(world.options({ sessionStore: store, resume: id }));
    for (const said of ["two", "three"]) {
      await talk.say(`${said} ` + play(text(said)));
      assert.match(JSON.stringify(await stored(store, world, id)), new RegExp(said));
    }
    await talk.end();
  },

  async a_session_goes_on_from_a_store_alone(world) {
    const store = new sdk.InMemorySessionStore();
    const first = await ask(world, "one " + play(text("a")), { sessionStore: store });
    let end;
    for (const [at, more] of [{ resume: first.session_id }, { continue: true }].entries()) {
      end = await ask(world, `more${at} ` + play([{ say: "texts" }]), { sessionStore: store, ...more, ...elsewhere(world, `m${at}`) });
      assert.equal(end.session_id, first.session_id);
      assert.match(end.result, /one/);
    }
    assert.match(end.result, /more0/);
    end = await heard(world, { resume: first.session_id, forkSession: true, sessionStore: store, ...elsewhere(world, "f") });
    assert.notEqual(end.session_id, first.session_id);
    const again = await heard(world, { resume: end.session_id, sessionStore: store, ...elsewhere(world, "g") });
    assert.match(again.result, /one[^]*more1/);
    const ids = (await stored(store, world, end.session_id)).filter((entry) => entry.uuid).map((entry) => entry.uuid);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(world.stderr, "");
  },

  async a_store_gets_long_entries(world) {
    const store = new sdk.InMemorySessionStore();
    async function* prompts() {
      const source = { type: "base64", media_type: "image/png", data: "A".repeat(1_500_000) };
      yield { type: "user", message: { role: "user", content: [{ type: "text", text: play(text("seen")) }, { type: "image", source }] }, parent_tool_use_id: null };
    }
    const messages = await collect(query({ prompt: prompts(), options: world.options({ sessionStore: store }) }));
    assert.deepEqual(system(messages, "session_writes_lost"), []);
    const { session_id: id } = result(messages);
    assert.equal((await stored(store, world, id)).length, lines(log(world, id)).filter((line) => line.type !== "windlass-checksum").length);
    assert.deepEqual(readdirSync(world.cwd), []);
  },
});
