await main({
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
});
