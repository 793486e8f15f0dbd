await main({
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
});
