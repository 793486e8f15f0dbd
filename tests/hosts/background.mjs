// Commands in the background, through the TypeScript Agent SDK.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { collect, main, play, query, result, session, system, text, tool, turn, until } from "./common.mjs";

const TEXTS = [{ say: "texts" }];
const background = (command, more = {}) => tool("Bash", { command, run_in_background: true, ...more });
const waitsFor = (name) => `until [ -e ${name} ]; do sleep 0.02; done`;
const allowed = { allowedTools: ["Bash"] };

const running = (command) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() === command;
    } catch {
      return false;
    }
  });

await main({
  async work_that_ends_while_idle_wakes_a_turn(world) {
    const { stream, say, end } = session(world.options(allowed));
    const steps = play(background(waitsFor("go"), { description: "Wait for it" }), text("It runs."), TEXTS);
    const first = await say(steps);
    assert.deepEqual([result(first).result, result(first).origin], ["It runs.", undefined]);
    const [started] = system(first, "task_started");
    assert.deepEqual([started.task_type, started.is_backgrounded], ["local_bash", true]);
    const [now] = system(first, "background_tasks_changed");
    assert.deepEqual(now.tasks.map((task) => [task.task_id, task.description]), [[started.task_id, "Wait for it"]]);
    world.write("go", "");
    const second = await turn(stream);
    const [ended] = system(second, "task_notification");
    assert.deepEqual([ended.task_id, ended.status], [started.task_id, "completed"]);
    assert.deepEqual(system(second, "background_tasks_changed").map((message) => message.tasks), [[]]);
    assert.deepEqual(result(second).origin, { kind: "task-notification" });
    assert.match(result(second).result, new RegExp(`<task-id>${started.task_id}</task-id>`));
    // The next prompt has a turn of its own.
    const third = await say(play(text("And on.")));
    assert.deepEqual([result(third).result, result(third).origin], ["And on.", undefined]);
    assert.deepEqual((await end()).filter((message) => message.type === "result"), []);
  },

  async a_string_prompt_is_over_with_its_result(world) {
    // The SDK ends the input then; the program waits, and the turn that wakes is still told.
    const steps = play(background("sleep 0.4"), text("It runs."), text("It is done."));
    const messages = await collect(query({ prompt: steps, options: world.options(allowed) }));
    const results = messages.filter((message) => message.type === "result").map((message) => message.result);
    assert.deepEqual(results, ["It runs.", "It is done."]);
  },

  async the_host_stops_a_task(world) {
    const { stream, say, end } = session(world.options(allowed));
    const first = await say(play(background("sleep 61.25"), text("It runs.")));
    const [started] = system(first, "task_started");
    await until(() => running("sleep 61.25").length, 20, "the command");
    assert.equal(await stream.backgroundTasks(), false);
    await stream.stopTask(started.task_id);
    await until(() => !running("sleep 61.25").length, 20, "the end of the command");
    let told;
    do told = (await stream.next()).value; while (told.subtype !== "task_notification");
    assert.deepEqual([told.task_id, told.status], [started.task_id, "stopped"]);
    const next = await say(play(TEXTS));
    assert.match(result(next).result, /<status>stopped<\/status>/);
    await end();
  },

  async closing_ends_it(world) {
    const { stream, say } = session(world.options(allowed));
    await say(play(background("sleep 61.5"), text("It runs.")));
    await until(() => running("sleep 61.5").length, 20, "the command");
    stream.close();
    await until(() => !running("sleep 61.5").length, 20, "the end of the command");
  },
});
