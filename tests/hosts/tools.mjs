await main({
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
});
