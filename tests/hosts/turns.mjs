await main({
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

  async resume(world) {
    const first = result(await collect(query({ prompt: "remember blue " + play(text("x")), options: world.options() })));
    for (const more of [{ resume: first.session_id }, { continue: true }]) {
      const end = result(await collect(query({ prompt: play([{ say: "texts" }]), options: world.options(more) })));
      assert.equal(end.session_id, first.session_id);
      assert.match(end.result, /remember blue/);
    }
  },

  async many_clients(world) {
    const one = async (number) => {
      const prompt = play(tool("Bash", { command: `echo ${number}` }), [{ say: "results" }]);
      return result(await collect(query({ prompt, options: world.options({ allowedTools: ["Bash"] }) }))).result.trim();
    };
    const answers = await Promise.all([...Array(20).keys()].map(one));
    assert.deepEqual(answers, [...Array(20).keys()].map(String));
  },
});
