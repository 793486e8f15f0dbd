// The types of the JSON that windlass writes and reads. See README.md.
// Made from the JSON Schemas beside this file. Renew it with:
// for c in types testkit; do WINDLASS_RENEW=1 cargo test -p windlass-$c published; done

/** An agent below the main one. Unique in its session. */
export type AgentId = string;

/** The id and type of an agent below the main one. */
export type AgentIdentity = {
  /** Id of the agent. */
  agent_id: AgentId;
  /** Name of the agent's definition, such as `general-purpose`. */
  agent_type: string;
};

/** The path of tool uses that leads to an agent; empty for the main agent. */
export type AgentPath = ToolUseId[];

/** Source of the answer that was applied. */
export type AnsweredBy =
  /** A `PermissionRequest` hook. */
  | "hook"
  /** The host: a person or a program that was asked, or, of a question that outlives its process, the holder of its token. */
  | "host";

/** One attempt of a model call: the request and its answer. Formatted as a UUID v4. */
export type AttemptId = string;

/** Record of an answered question about a call, and of the answerer. */
export type AuditedAnswer = {
  /** Source of the answer that was applied. */
  by: AnsweredBy;
  /** The question. */
  question: QuestionId;
};

/** Relation of a call to the sandbox of the session. */
export type AuditedSandbox = {
  /** `true` if the program runs inside the sandbox. */
  confines: boolean;
  /** The level that was proved when the session opened, in words. */
  level: string;
};

/** Behavior for a call. Ordered: `Deny < Ask < Allow`, and a compound call takes the minimum of its parts. */
export type Behavior =
  /** The call does not run. */
  | "deny"
  /** The host is asked. */
  | "ask"
  /** The call runs. */
  | "allow";

/** Audit of one call. A field that is `None` or empty is not recorded: the log may be older, or of another program. */
export type CallAudit = {
  /** Time of that line. */
  at: Timestamp;
  /** Time when its intent was first recorded, just before it ran. Read-only calls have none. */
  begun: Timestamp | null;
  /** Files changed according to the result. Changes by programs are not recorded. */
  changed: FileChanged[];
  /** Id of that line. */
  entry: EntryId;
  /** Input as the model wrote it. */
  input: JsonText | null;
  /** Number of the line that contains the call, or else of the first line about it, counted from one. */
  line: number;
  /** State of all lines about the call. */
  lines: LineState;
  /** Permission mode in force at the decision, or at the call if no decision is recorded. */
  mode: PermissionMode | null;
  /** Permission requests about the call that were kept for a later answer, in order. */
  questions: QuestionAudit[];
  /** Result of the call. */
  result: ResultAudit | null;
  /** Tool of the call. `None` if the message with the call is lost. */
  tool: string | null;
  /** Id of the call. Logs of other programs may reuse an id; each use is a separate call here. */
  tool_use_id: ToolUseId;
  /** Decisions on the call, in order. */
  verdicts: VerdictAudit[];
  /** Agent whose answers the call waits for: the call stays open, and continues with that agent. */
  waits_for: AgentId | null;
};

/**
 * The digest of one exact call: tool, final input text, current directory,
 * resolved paths and agent path. An approval holds for one digest.
 */
export type CallDigest = string;

/** Kind of effect that a call can have. */
export type CallEffect =
  /** Reads files or data. */
  | "reads"
  /** Creates or changes files or data. */
  | "writes"
  /** Removes files or data, or replaces what cannot be restored. */
  | "removes"
  /** Runs programs whose effects are not known beforehand. */
  | "runs"
  /** Contacts other machines. */
  | "network"
  /** Uses the rights of another user, such as root. */
  | "elevates";

/**
 * Facts about a call for those who answer a question about it, from the analysis of its input. They are for people and
 * for the programs that show them: no verdict depends on them.
 *
 * # As JSON
 * ```
 * # use windlass_types as windlass;
 * use windlass::{CallEffect, CallImpact, RiskGrade};
 *
 * let impact = CallImpact::new(RiskGrade::High, "Discards changes that are not committed.")
 *     .with_effects(CallEffect::Removes);
 * let text = r#"{"summary":"Discards changes that are not committed.","risk":"high","effects":"removes"}"#;
 * assert_eq!(serde_json::to_string(&impact)?, text);
 * # Ok::<(), serde_json::Error>(())
 * ```
 */
export type CallImpact = {
  /** Kinds of effects that the call can have, as far as they are known. */
  effects: CallEffect[];
  /** Hosts that the call names, at most 20, without credentials. */
  hosts?: string[];
  /** Paths that the call names, at most 20: those that it changes, or else those that it reads. Absolute. */
  paths?: string[];
  /** Grade of the harm that the call can do. */
  risk: RiskGrade;
  /** Effect of the call in one sentence, such as "Downloads a script and runs it.". */
  summary: string;
};

/**
 * The kinds of the commands of a line, from their programs. A line may have several. Only for showing a call: no
 * verdict depends on it.
 */
export type CommandKinds = {
  /** `true` if a command lists folders, such as `ls` and `du`. */
  list: boolean;
  /** `true` if a command shows the content of files, such as `cat` and `jq`. */
  read: boolean;
  /** `true` if a command searches files or names, such as `grep` and `find`. */
  search: boolean;
  /** `true` if all commands print nothing on success, such as `mkdir` and `mv`. */
  silent: boolean;
  /** `true` if a command is known to change files: by its program, an option or a redirection. */
  write: boolean;
};

/** Reason for a compaction. */
export type CompactTrigger =
  /** The user asked for it. */
  | "manual"
  /** The conversation filled most of the model's context window. */
  | "auto"
  /** The conversation was too long for the model. */
  | "overflow";

/** A conversation that was replaced by a summary. */
export type Compacted = {
  /** The id of the boundary in the log. */
  boundary: EntryId;
  /** Duration of the compaction, in milliseconds. */
  duration_ms: number;
  /** The id of the summary in the log. */
  entry: EntryId;
  /** Length of the conversation afterwards, in tokens, estimated. */
  post_tokens: number;
  /** Length of the conversation before, in tokens. */
  pre_tokens: number;
  /** Summary that the model reads instead of the conversation before. */
  summary: string;
  /** Reason for the compaction. */
  trigger: CompactTrigger;
};

/**
 * One block of a message.
 *
 * Block types that windlass does not know are kept as their exact text and
 * sent back unchanged.
 */
export type ContentBlock =
  /** Text. */
  | {
    type: "text";
    /** The text. */
    text: string;
  }
  /** The model's reasoning. Immutable: the provider checks the signature over it. */
  | {
    type: "thinking";
    /** Data that the provider needs to read the block again: its signature, or the encrypted item as JSON text. */
    signature: string;
    /** The reasoning text, empty when the provider withholds it. */
    thinking: string;
  }
  /** Reasoning that the provider returned encrypted. */
  | {
    type: "redacted_thinking";
    /** The opaque data. */
    data: string;
  }
  /** An image. */
  | {
    type: "image";
    /** Source of the image bytes. */
    source: ImageSource;
  }
  /** A document, such as a PDF. */
  | {
    type: "document";
    /** Source of the document bytes. */
    source: DocumentSource;
    /** A title for the model, if any. */
    title?: string | null;
  }
  /** A request of the model to run a tool. */
  | ToolUse & {
    type: "tool_use";
  }
  /** The answer to a tool use. */
  | ToolResult & {
    type: "tool_result";
  };

/** Reason for a model call of a run. */
export type Continuation =
  /** The first call of a run. */
  | "prompt"
  /** Tool results are in. */
  | "tool_results"
  /** A Stop hook asked for more. */
  | "stop_hook"
  /** A failed call is repeated. */
  | "retry"
  /** The fallback model takes over. */
  | "fallback"
  /** The answer was cut by the output limit. */
  | "max_output"
  /** The provider paused the turn. */
  | "pause_turn"
  /** A message of the user arrived during the run. */
  | "steered"
  /** The conversation was compacted. */
  | "compacted"
  /** The structured output is missing and was requested. */
  | "structured_output"
  /** The run was cut by the end of its process, or handed over, and continues. */
  | "resumed";

/** The verdict on one call, with its whole reason. */
export type Decision = {
  /** Behavior for the call. */
  behavior: Behavior;
  /** The path that prevented the call from being allowed. */
  blocked_path: string | null;
  /** The reason in a sentence, for people and for the model. */
  message: string;
  /** The command that decided, as written in the line, if the call is a line of several commands. */
  part?: string | null;
  /** `true` if the safety floor decided, which no rule, hook or mode lifts. */
  protected: boolean;
  /** The part of the pipeline that decided. */
  reason: DecisionReason;
  /** The rule that decided, if one did. */
  rule: MatchedRule | null;
  /**
   * Suggested updates, the narrowest first: each alone lets the call run and prevents the same question later.
   * Choose one; all together allow no more than the last.
   */
  suggestions: PermissionUpdate[];
};

/** The part of the pipeline that decided. */
export type DecisionReason =
  /** A hook denied, asked or allowed. */
  | "hook"
  /** A rule matched. */
  | "rule"
  /** The safety floor: a whole tree, a raw device, a fork bomb. Never allowed. */
  | "catastrophic"
  /** The safety floor: a protected path or command. Only an answer bound to this call lifts it. */
  | "protected"
  /** The tool's own check. */
  | "tool_check"
  /** A path outside the workspace. */
  | "working_directory"
  /** The command is not understood well enough. */
  | "not_understood"
  /** The permission mode. */
  | "mode"
  /** The sandbox in which commands run: it lets one run without a question, or one would run outside of it. */
  | "sandbox"
  /** The call is known to only read. */
  | "read_only"
  /** The classifier of the mode auto allowed it. */
  | "classifier"
  /** The host's answer. */
  | "host"
  /** Not allowed, and there is no host to ask. */
  | "nobody_to_ask"
  /** No rule, mode or hook allowed it, so the host is asked. */
  | "default"
  /** The input is not valid, so there was nothing to judge. */
  | "invalid_input"
  /** The tool is not in the set. */
  | "unknown_tool";

/** Piece that was added to a block. */
export type Delta =
  /** Text. */
  | {
    kind: "text";
    text: string;
  }
  /** Reasoning. */
  | {
    kind: "thinking";
    text: string;
  }
  /** JSON text of a tool input, not valid on its own. */
  | {
    kind: "tool_input";
    text: string;
  };

/** Source of the bytes of a document. */
export type DocumentSource =
  /** In the block. */
  | {
    type: "base64";
    /** The bytes in base64. */
    data: string;
    /** `application/pdf`. */
    media_type: string;
  }
  /** Plain text in the block. */
  | {
    type: "text";
    /** The text. */
    data: string;
    /** `text/plain`. */
    media_type: string;
  }
  /** At an address that the provider fetches. */
  | {
    type: "url";
    /** The address. */
    url: string;
  }
  /** In the provider's file store. */
  | {
    type: "file";
    /** The provider's id of the file. */
    file_id: string;
  };

/** The files that a call is about to change, and the diff of the change. */
export type EditPreview = {
  /**
   * The change as a unified diff, of at most `MOST_BYTES`. Computed from the files as they were
   * when the preview was made; a later change of a file makes it outdated.
   */
  diff: string;
  /** `true` if the end of the diff was left out. */
  is_cut?: boolean;
  /** The files, with links followed. */
  paths: string[];
};

/** Decision on a server's question. Ordered: the stricter decision is less. */
export type ElicitationChoice =
  /** The question stays without an answer, as when the user closes a dialog. */
  | "cancel"
  /** The server does not get the requested data. */
  | "decline"
  /** The server gets an answer. */
  | "accept";

/** The answer to a question of a server. */
export type ElicitationReply = {
  /** Decision on the question. */
  action: ElicitationChoice;
  /** The values of the form, if it is accepted. Default: none. */
  content?: JsonText | null;
};

/** One line of the session log. Formatted as a UUID v4. */
export type EntryId = string;

/** One event of a run. */
export type Event = {
  /** The agent of the event. */
  agent: AgentPath;
  /**
   * Time of the event by the session's clock. Of joined pieces of a text, that of the first. Never earlier than that of
   * an earlier event of the same agent.
   */
  at: Timestamp;
  /** The run; of background work that starts or ends, the one that began it. */
  run_id: RunId;
  /** Position in the session's stream since it was opened, from zero without gaps. */
  seq: number;
  /** The session. */
  session_id: SessionId;
  /** The turn inside the run, from one; zero before the first model call. */
  turn: number;
} & (
  /** A run begins. Exactly one `RunFinished` follows. */
  | RunStarted & {
    type: "run_started";
  }
  /** A frame of the model's stream as the provider sent it; with partial messages on. */
  | {
    type: "model_frame";
    /** The frame. */
    frame: JsonText;
  }
  /** A block of the streaming message grew. */
  | {
    type: "block_delta";
    /** The added piece. */
    delta: Delta;
    /** The block's position in the message. */
    index: number;
  }
  /** A block of the streaming message is complete. */
  | {
    type: "block_finished";
    /** The block. */
    block: ContentBlock;
    /** The block's position. */
    index: number;
    /** The id of the block's line in the log, once the message is stored. */
    line: EntryId;
    /** The message. */
    message_id: MessageId;
    /** The model that writes it. */
    model: string;
    /** Usage as known when the message started. */
    usage: Usage;
  }
  /** The message is complete and stored. */
  | {
    type: "message_finished";
    /** Attempt that gave the message, as `Status::Requesting` named it. */
    attempt_id: AttemptId;
    /**
     * Time from the request of the attempt to the first piece of content, in milliseconds. `None`: the message came as a
     * whole.
     */
    first_token_ms: number | null;
    /** Time from the request of the attempt to the end of the message, in milliseconds. */
    latency_ms: number;
    /** The message. */
    message_id: MessageId;
    /** The model that wrote it. */
    model: string;
    /** Reason why the message ended. */
    stop_reason: StopReason | null;
    /** Tokens of the message. */
    usage: Usage;
  }
  /** The shown parts of an unfinished message are withdrawn. */
  | {
    type: "message_withdrawn";
    /** The message, if it had begun. */
    message_id: MessageId | null;
    /** Reason for the withdrawal. */
    reason: WithdrawReason;
  }
  /** A tool begins to run. */
  | ToolStarted & {
    type: "tool_started";
  }
  /** A tool reports its progress. Coalesced: only the latest is kept. */
  | ToolProgress & {
    type: "tool_progress";
  }
  /** A call is answered, whether it ran or not. */
  | ToolFinished & {
    type: "tool_finished";
  }
  /** The host is asked. */
  | PermissionRequest & {
    type: "permission_requested";
  }
  /** A call was judged by asking, or denied. */
  | {
    type: "permission_resolved";
    /** The final verdict. */
    decision: Decision;
    /** The tool's name. */
    tool: string;
    /** The tool use. */
    tool_use_id: ToolUseId;
  }
  /** Hooks are asked; a `HookRan` of the same occasion follows, unless they are stopped. Only if the session reports it. */
  | {
    type: "hooks_started";
    /** The event they listen to. */
    event: HookEventName;
    /** Their names, in declared order. */
    hooks: string[];
    /** The tool use, for events about a tool. */
    tool_use_id: ToolUseId | null;
  }
  /** Hooks ran. May come between runs. */
  | {
    type: "hook_ran";
    /** The event they listened to. */
    event: HookEventName;
    /** Merged answers of the hooks. */
    outcome: HookOutcome;
    /** The tool use, for events about a tool. */
    tool_use_id: ToolUseId | null;
  }
  /** The state of the loop changed. */
  | Status & {
    type: "status";
  }
  /** A model call was billed. */
  | {
    type: "usage_updated";
    /** Cost of the session so far. */
    cost: NanoUsd;
    /** The model. */
    model: string;
    /** Tokens of this call. */
    usage: Usage;
  }
  /**
   * The allowance of the provider's subscription is known for the first time, or changed. Not once for each
   * request: small steps of its utilization are left out.
   */
  | RateLimit & {
    type: "rate_limit";
  }
  /** The conversation was replaced by a summary. */
  | Compacted & {
    type: "compacted";
  }
  /** A message that was sent to the run has joined it, or will not join it. */
  | Steered & {
    type: "steered";
  }
  /** A call started background work. */
  | TaskInfo & {
    type: "task_started";
  }
  /** Background work reports its progress. Coalesced: only the latest is kept. May come between runs. */
  | TaskProgress & {
    type: "task_progress";
  }
  /** Background work ended. May come between runs. */
  | TaskEnded & {
    type: "task_ended";
  }
  /** State of the session changed. */
  | StateChange & {
    type: "state_changed";
  }
  /** The run is over. */
  | RunResult & {
    type: "run_finished";
  });

/** A file changed by a call. */
export type FileChanged = {
  /** Number of added lines, if the result contains it. */
  added: number | null;
  /** Path of the file, as the result names it. */
  path: string;
  /** Number of removed lines, if the result contains it. */
  removed: number | null;
};

/** The events that hooks can listen to. */
export type HookEventName =
  /** Before a tool runs. A failure denies the call. */
  | "PreToolUse"
  /**
   * Before a program of a command or skill runs whose output is a part of the prompt, and before it is judged as a call.
   * Every answer but allow stops it, and allow lifts no rule. A failure stops it.
   */
  | "PreSkillShellCommand"
  /**
   * A call needs an answer: the hook may give it instead of the host, who is asked at the same time. Without a
   * host only hooks can allow it. A failure denies the call.
   */
  | "PermissionRequest"
  /** After a tool ran. */
  | "PostToolUse"
  /** After a tool failed. */
  | "PostToolUseFailure"
  /** A call was denied: by a rule, the mode, the host, a hook, or because nobody could be asked. */
  | "PermissionDenied"
  /** All calls of a message are answered, before the model reads the results. */
  | "PostToolBatch"
  /** Before a prompt, or a message to the run in progress, enters the conversation. A failure blocks it. */
  | "UserPromptSubmit"
  /** Before a run ends because the model is done. */
  | "Stop"
  /** A run ended because the model could not be called, or failed again and again. */
  | "StopFailure"
  /** An agent below the main one begins; what is added is for its model. */
  | "SubagentStart"
  /** Before an agent below the main one ends because its model is done. */
  | "SubagentStop"
  /** Before a conversation is replaced by a summary. */
  | "PreCompact"
  /** After a conversation was replaced by a summary. */
  | "PostCompact"
  /** The user is needed, or work that they wait for has ended. */
  | "Notification"
  /** The model is about to read the instructions of a file. */
  | "InstructionsLoaded"
  /** A server asks the user something: the hook may answer in their place. */
  | "Elicitation"
  /** A question of a server is answered, and the server does not know yet: the hook may answer otherwise. */
  | "ElicitationResult"
  /** Before changed settings count. */
  | "ConfigChange"
  /** The directory changed in which later calls start. */
  | "CwdChanged"
  /** A file has changed since the model read it: seen when a prompt begins a run. */
  | "FileChanged"
  /** Calls may use another directory from now on. */
  | "DirectoryAdded"
  /** The model put an item on its list of what is to be done. */
  | "TaskCreated"
  /** The model marked an item of that list as completed. */
  | "TaskCompleted"
  /** Another model is called from now on. */
  | "PostModelSwitch"
  /** A session was opened. */
  | "SessionStart"
  /** A session is closed. */
  | "SessionEnd";

/** Merged answers of all hooks of one occasion, in their declared order. */
export type HookOutcome = {
  /** Context for the model. */
  additional_context: string[];
  /** PermissionRequest: the answer, a deny before an allow. */
  answer?: PermissionAnswer | null;
  /** Of events that can be blocked, or take feedback: the reason. */
  block: HookVerdict | null;
  /** Time from the first question to the last answer, in milliseconds; set by the session. */
  duration_ms: number;
  /** Elicitation, ElicitationResult: the answer for the server, the strictest if there are several. */
  elicitation?: ElicitationReply | null;
  /** Names of hooks that failed, each with its reason. */
  failures: [string, string][];
  /** Output of the hooks' programs. A hook that runs in this process writes none. */
  outputs?: HookOutput[];
  /** The names of the hooks that ran, in declared order. */
  ran: string[];
  /** Ends the run after this, with a reason. */
  stop: string | null;
  /** Messages for the user. */
  system_messages: string[];
  /** PreToolUse: the input to use instead. */
  updated_input: JsonText | null;
  /** PostToolUse: the output that the model reads instead. */
  updated_output?: ToolResultContent | null;
  /** PreToolUse: the lowest opinion, deny before defer before ask before allow. */
  verdict: HookVerdict | null;
};

/** Output of a hook's program, for people. */
export type HookOutput = {
  /** Exit code. `None`: the hook is no program, or a signal ended it. */
  exit_code?: number | null;
  /** The name of the hook. */
  hook: string;
  /** Standard error output. */
  stderr: string;
  /** Standard output. */
  stdout: string;
};

/** A hook's opinion on a call. */
export type HookVerdict = {
  /** The hook's opinion: allow, ask or deny. */
  behavior: Behavior;
  /** `true` if the call is to be kept for later: its behavior is ask, but no one is asked now. Default: `false`. */
  defers?: boolean;
  /** The name of the hook. */
  hook: string;
  /** Reason for the opinion. */
  reason: string;
};

/** Source of the bytes of an image. */
export type ImageSource =
  /** In the block. */
  | {
    type: "base64";
    /** The bytes in base64. */
    data: string;
    /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
    media_type: string;
  }
  /** At an address that the provider fetches. */
  | {
    type: "url";
    /** The address. */
    url: string;
  }
  /** In the provider's file store. */
  | {
    type: "file";
    /** The provider's id of the file. */
    file_id: string;
  };

/** An input in place of the one before it. */
export type InputChange = {
  /** Source of the change. */
  by: InputChangedBy;
  /** The new input. */
  input: JsonText;
};

/** Source of a change of a call's input. */
export type InputChangedBy =
  /** A `PreToolUse` hook, before the call was judged. */
  | "hook"
  /** The answer to the question about the call: that of the host, or of a `PermissionRequest` hook. */
  | "host"
  /** The tool's own schema: a `null` for a property that may be left out, and may not be `null`, counts as absent. */
  | "schema";

/** Phase in which the user interrupted a run. */
export type Interrupted =
  /** The model was being called or was streaming. */
  | "streaming"
  /** Tools were being judged or were running. */
  | "tools"
  /** Nothing of the run had begun. */
  | "starting";

/** Any JSON, as exactly the text that it arrived in. */
export type JsonText = unknown;

/** Reliability of the lines of a log. */
export type LineAudit = {
  /** Lines that do not match their checksum: they were changed, added or removed later. */
  altered: LineRange[];
  /** Damage of unusable lines, a sentence each. */
  damage: string[];
  /** Number of lines. */
  total: number;
  /** Lines without a checksum: another program wrote them, or the writer ended before a sync. */
  unchecked: LineRange[];
};

/** Range of log lines, counted from one. */
export type LineRange = {
  /** First line. */
  first: number;
  /** Last line. */
  last: number;
};

/**
 * Integrity of lines. A checksum shows damage and careless changes; someone who changes a log on purpose can write new
 * checksums, which only a `LogHead` that is kept elsewhere shows.
 */
export type LineState =
  /** The lines match their checksum. */
  | "checked"
  /** No checksum covers the lines. */
  | "unchecked"
  /** The lines do not match their checksum. */
  | "altered";

/**
 * A call that a running call made, such as one of a program. It passes the permission gate like any call, and its
 * result goes back to its maker. No message contains it, so events and the log name it by its id, which begins with
 * `MadeCall::ID_PREFIX`.
 */
export type MadeCall = {
  /** Tool use that made the call. For a server's own request, such as a message of a model, the id of that request. */
  by: ToolUseId;
  /** Input of the call. */
  input: JsonText;
  /** Name of the tool. */
  tool: string;
};

/** A rule that decided. */
export type MatchedRule = {
  /** Behavior of the rule: allow, ask or deny. */
  behavior: Behavior;
  /** Place of the rule, if it stands in a file. `None` also in logs older than this field. */
  origin?: RuleOrigin | null;
  /** Text of the rule, as written. */
  rule: string;
  /** Source of the rule. */
  source: RuleSource;
};

/** A model message, as the provider named it (`msg_…`). */
export type MessageId = string;

/** Kind of failure of a model call. The loop decides by it. */
export type ModelErrorKind =
  /** No key, or a key that the provider does not accept (401). */
  | "authentication"
  /** The key may not do this (403). */
  | "permission_denied"
  /** Credit or plan is exhausted (402, or 400/429 with a billing text). */
  | "billing"
  /** No such model or endpoint (404). */
  | "not_found"
  /** The request is malformed (400, 422). */
  | "invalid_request"
  /** The prompt does not fit the context window. */
  | "prompt_too_long"
  /** The request body is too large (413). */
  | "request_too_large"
  /** The provider refused replayed data of earlier messages (a signature, encrypted reasoning). */
  | "replay_rejected"
  /** Too many requests or tokens (429). */
  | "rate_limited"
  /** The quota of a day, a month or a plan is used up. The error names the time of the reset, if the provider does. */
  | "quota_exhausted"
  /** The provider is overloaded (529, 503, `overloaded_error`). */
  | "overloaded"
  /** The provider failed (other 5xx, `api_error`). */
  | "server"
  /** No answer in time, or a stream that went silent. */
  | "timeout"
  /** No connection, or it broke before the answer began. */
  | "connection"
  /** The stream ended before the message was complete. */
  | "cut"
  /** The provider broke its own protocol. */
  | "protocol"
  /** A replayed cassette does not match the request, or a script has run out. */
  | "replay"
  /** The provider was set up wrongly. */
  | "configuration";

/** Usage and cost of one model. */
export type ModelUsage = {
  /** The model's context window, in tokens; zero when unknown. */
  context_window: number;
  /** Cost in billionths of a dollar, zero when the price is unknown. */
  cost: NanoUsd;
  /** Maximum number of output tokens; zero when unknown. */
  max_output_tokens: number;
  /** `true` if the cost of the last call is known: by a price, or because the provider reported it. */
  priced: boolean;
  /**
   * Part of the cost that the provider reported itself; the rest is computed from prices. Left out of the JSON when
   * it is zero.
   */
  reported_cost?: NanoUsd;
  /** Tokens. */
  usage: Usage;
};

/** Audit of one of the logs of a session. */
export type NamedAudit = {
  /** Agent of the log; `None` for the log of the session. */
  agent: AgentId | null;
  /** Calls, in the order of their lines. */
  calls: CallAudit[];
  /** Reliability of the lines. */
  lines: LineAudit;
};

/**
 * Money in billionths of a US dollar. A price of 3 USD per million tokens is
 * 3,000 of these per token, so sums are exact.
 */
export type NanoUsd = number;

/** Outcome of a run. */
export type Outcome =
  /** The model finished its answer. */
  | {
    type: "success";
  }
  /** The model refused. */
  | {
    type: "refused";
  }
  /** The limit of turns is reached. */
  | {
    type: "max_turns";
    /** The limit. */
    limit: number;
  }
  /** The budget does not buy another call. */
  | {
    type: "max_budget";
    /** The budget. */
    limit: NanoUsd;
  }
  /** The model did not give an output that fits the schema. */
  | {
    type: "no_structured_output";
    /** Number of attempts. */
    attempts: number;
  }
  /** The user stopped it. */
  | {
    type: "interrupted";
    /** The interrupted phase. */
    during: Interrupted;
  }
  /** A hook stopped it. */
  | {
    type: "stopped_by_hook";
    /** The hook's reason. */
    reason: string;
  }
  /** A hook did not let the prompt in. */
  | {
    type: "prompt_blocked";
    /** The hook's reason. */
    reason: string;
  }
  /**
   * The model finished its answer, but its background work took too long, or the session was closed before the work
   * ended. The work was stopped.
   */
  | {
    type: "background_stopped";
    /** The stopped tasks. */
    tasks: TaskInfo[];
  }
  /**
   * Questions wait for an answer that may come later, also from another process. Their calls have not run; the run
   * continues with `Prompt::continue_run`.
   */
  | {
    type: "pending";
    /** The questions, in the order of their calls. `RunResult::pending_questions` has them in full. */
    questions: QuestionId[];
  }
  /**
   * The session was handed over: the run is open in the log, and continues where the session is opened next, with
   * `Prompt::continue_run`.
   */
  | {
    type: "handed_over";
  }
  /** The run failed. */
  | RunFailure & {
    type: "failed";
  };

/** What the host answers. */
export type PermissionAnswer =
  /** The call may run. */
  | {
    behavior: "allow";
    /** Input to run instead; the call is judged again from the deny rules on. */
    updated_input?: JsonText | null;
    /** Permission updates to keep. */
    updates?: PermissionUpdate[];
  }
  /** The call may not run. */
  | {
    behavior: "deny";
    /** `true` if the whole run stops. */
    interrupt?: boolean;
    /** Reason for the model. */
    message: string;
  };

/** A denied call, as the result of a run lists it. */
export type PermissionDenial = {
  /** Input of the call. */
  tool_input: JsonText;
  /** The tool's name. */
  tool_name: string;
  /** The tool use. */
  tool_use_id: ToolUseId;
};

/** A group of calls. */
export type PermissionGroup =
  /** Calls that only read: files, or pages of the web (`WebFetch`, `WebSearch`). */
  | "read_only"
  /** Calls that change files that they name. */
  | "edit"
  /** Calls that run programs. */
  | "execution"
  /** Calls of tools of MCP servers, whatever these do. */
  | "mcp"
  /** All other calls. */
  | "other";

/** Permission mode: the calls that run without a question. */
export type PermissionMode =
  /** Reading inside the workspace is free, every other call asks. */
  | "default"
  /** Also edits files, and runs a few file commands, inside the workspace. */
  | "acceptEdits"
  /** Only reads. Left through an approved ExitPlanMode or by the user. */
  | "plan"
  /** As default, but what would ask is denied. */
  | "dontAsk"
  /** As acceptEdits, and a model is asked about calls that rules leave undecided: it allows one, or it is asked about. */
  | "auto"
  /** Everything but deny rules, ask rules and the safety floor. High risk. */
  | "bypassPermissions";

/** A question to the host: may this call run? */
export type PermissionRequest = {
  /** The agent that asks; empty for the main agent. */
  agent: AgentPath;
  /** The verdict so far, with suggestions. */
  decision: Decision;
  /** The exact call that an answer binds to. */
  digest: CallDigest;
  /** Preview of the file changes, if the session makes previews and the tool can compute one. */
  edits?: EditPreview | null;
  /** Group of the call. */
  group: PermissionGroup;
  /**
   * Id of the question, which an answer names. A call whose input an answer changed may be asked about again, under
   * another id.
   */
  id: QuestionId;
  /** Identity of the agent, unless it is the main one. */
  identity: AgentIdentity | null;
  /** Effects, risk, paths and hosts of the call, with a sentence for people. `None`: the call was not analysed. */
  impact?: CallImpact | null;
  /** The exact input that will run. */
  input: JsonText;
  /** One line that names what will happen, control characters made visible. */
  title: string;
  /**
   * Token that an answer of another process must present, if the run waits for answers. `None`: the question ends
   * with this process, or its token was given when it was first asked. Left out of the JSON then.
   */
  token?: QuestionToken | null;
  /** The tool's name. */
  tool: string;
  /** The tool use. */
  tool_use_id: ToolUseId;
};

/** A change of permissions, suggested with a question or given with an answer. */
export type PermissionUpdate =
  /** Adds rules. */
  | {
    type: "addRules";
    /** Behavior of the rules: allow, ask or deny. */
    behavior: Behavior;
    /** Destination of the rules. */
    destination: UpdateDestination;
    /** The rules. */
    rules: RuleValue[];
  }
  /** Replaces all rules of one behaviour. */
  | {
    type: "replaceRules";
    /** Behavior of the rules: allow, ask or deny. */
    behavior: Behavior;
    /** Destination of the rules. */
    destination: UpdateDestination;
    /** The rules. */
    rules: RuleValue[];
  }
  /** Removes rules. */
  | {
    type: "removeRules";
    /** Behavior of the rules: allow, ask or deny. */
    behavior: Behavior;
    /** Place of the rules. */
    destination: UpdateDestination;
    /** The rules. */
    rules: RuleValue[];
  }
  /** Changes the mode. */
  | {
    type: "setMode";
    /** Destination of the mode. */
    destination: UpdateDestination;
    /** The new mode. */
    mode: PermissionMode;
  }
  /** Adds directories to the workspace. */
  | {
    type: "addDirectories";
    /** Destination of the directories. */
    destination: UpdateDestination;
    /** The directories. */
    directories: string[];
  }
  /** Removes directories from the workspace. */
  | {
    type: "removeDirectories";
    /** Place of the directories. */
    destination: UpdateDestination;
    /** The directories. */
    directories: string[];
  };

/** A permission request that was kept for a later answer. */
export type QuestionAudit = {
  /** The assistant line that holds the tool use. */
  assistant: EntryId;
  /** Time when the request was sent. */
  at: Timestamp;
  /** The directory that the call would start in. */
  cwd: string;
  /**
   * Rules by which a command or a skill denies calls of the run. They also apply when the run is continued; the
   * allow rules of that command or skill do not.
   */
  denied?: string[];
  /** The exact call that was asked about. An answer holds for no other. */
  digest: CallDigest;
  /** Hashes of tokens that earlier openings gave for the question, the last first: they stay valid. */
  earlierTokens?: TokenHash[];
  /** The question. */
  id: QuestionId;
  /** Effects, risk, paths and hosts of the call, for people. */
  impact?: CallImpact | null;
  /** `true` if the request waits for an answer: no decision, result or intent followed. */
  is_open: boolean;
  /** Commands and skills of the run whose hooks were active. The hooks are active again when the run is continued. */
  skills?: string[];
  /** One line that names what would happen, control characters made visible. */
  title: string;
  /** Hash of the token that an answer of another process must present. */
  token: TokenHash;
  /** The tool's name. */
  tool: string;
  /** The tool use. */
  toolUseId: ToolUseId;
};

/** A question to the host. Unique in its session, over all agents. Formatted as a UUID v4. */
export type QuestionId = string;

/**
 * Token that proves the right to answer a question from another process. A secret: it is in the event and in the
 * result that ask, never in the log, and not shown by `Debug`.
 */
export type QuestionToken = string;

/**
 * The allowance of a subscription, as its provider reports it: its status, and the time at which the deciding window
 * resets.
 *
 * Only the status is always known. This is not the limit on requests or tokens a minute, which a provider enforces
 * independently of a subscription.
 */
export type RateLimit = {
  /** `true` if this request was beyond the allowance and served at extra cost. */
  is_using_overage?: boolean | null;
  /** The window that decides. */
  kind?: RateLimitKind | null;
  /** Reason why requests beyond the allowance are not served, as the provider names it, such as `out_of_credits`. */
  overage_disabled_reason?: string | null;
  /** Time at which the overage window resets, in seconds since the Unix epoch. */
  overage_resets_at?: number | null;
  /** Status of requests beyond the allowance, at extra cost. */
  overage_status?: RateLimitStatus | null;
  /** Time at which the window resets, in seconds since the Unix epoch. */
  resets_at?: number | null;
  /** Status of requests within the allowance. */
  status: RateLimitStatus;
  /** Used share of that window. */
  utilization?: Utilization | null;
};

/** The window of time, and perhaps the models, that an allowance is for. Others are possible. */
export type RateLimitKind = "five_hour" | "seven_day" | "seven_day_opus" | "seven_day_sonnet" | "seven_day_overage_included" | "overage" | (string & {});

/** Whether a subscription's requests are served. Others are possible. */
export type RateLimitStatus = "allowed" | "allowed_warning" | "rejected" | (string & {});

/** Result of a call. */
export type ResultAudit = {
  /** Time when the result was recorded. */
  at: Timestamp;
  /** `true` if the model read the result as an error. */
  is_error: boolean;
  /** `true` if the runtime created the result because the call never ended. */
  is_made_up: boolean;
};

/** A failed model call that will be repeated. */
export type RetryStatus = {
  /** Number of the next retry, from one. */
  attempt: number;
  /** Delay until the retry, in milliseconds. */
  delay_ms: number;
  /** Kind of the failure. */
  error: ModelErrorKind;
  /** The HTTP status, if there was one. */
  http_status: number | null;
  /** Maximum number of retries. */
  max_retries: number;
  /** Description of the failure. */
  message: string;
};

/** Grade of the harm that a call can do, for people. No verdict depends on it. */
export type RiskGrade =
  /** Reads, or changes data of the session alone. */
  | "low"
  /** Usual work in a project, or effects that are not known. */
  | "medium"
  /** Loses work, runs code of strangers, leaves the project, or changes what others use. */
  | "high";

/** Place of a rule in a file. */
export type RuleOrigin = {
  /** The file. */
  file: string;
  /** The line, counted from one, if it is known. */
  line?: number | null;
};

/** Source of a rule. */
export type RuleSource =
  /** The organisation's policy, which nothing overrides. */
  | "policySettings"
  /** `--settings` or the SDK's settings option. */
  | "flagSettings"
  /** The user's file for this project. */
  | "localSettings"
  /** The project's file. */
  | "projectSettings"
  /** The user's file. */
  | "userSettings"
  /** `--allowedTools` and its kin, or the SDK's rule options. */
  | "cliArg"
  /** A command's or skill's own list, while it runs. */
  | "command"
  /** Answers given in this session. */
  | "session";

/** A rule in two parts, as updates and suggestions carry it: `Tool(content)`. */
export type RuleValue = {
  /** Text in the parentheses; absent for a rule on the whole tool. */
  ruleContent?: string | null;
  /** The tool's name. */
  toolName: string;
};

/** A failure that ended a run. */
export type RunFailure = {
  /** Kind of the failure. */
  kind: RunFailureKind;
  /** Description and remedy, in a sentence. */
  message: string;
  /** The HTTP status, when the provider answered with one. */
  status: number | null;
};

/** Kind of failure that ended a run. */
export type RunFailureKind =
  /** A model call failed for good. */
  | {
    model: ModelErrorKind;
  }
  /** The prompt does not fit the model's context window. */
  | "prompt_too_long"
  /** A call that gives a part of the prompt was denied or failed, so the prompt was not sent. */
  | "prompt_call"
  /** Tool calls kept failing. */
  | "repeated_tool_failure"
  /**
   * The model kept repeating calls whose results it had already, or the run was resumed several times without a message
   * of the model or a result.
   */
  | "no_progress"
  /** The answer kept running into the output limit. */
  | "output_limit"
  /** The conversation could not be compacted, as the user asked. */
  | "compaction"
  /** The session store refused an entry. */
  | "store"
  /** The runtime broke its own rules. */
  | "internal";

/** One run: a prompt until its result. Formatted as a UUID v4. */
export type RunId = string;

/** Origin of a run: the input that it answers. */
export type RunOrigin =
  /** A prompt. */
  | "user"
  /** Background work that ended while no run was in progress. */
  | "task_notification";

/** The result of a run. */
export type RunResult = {
  /** Cost of the session so far, in billionths of a dollar. */
  cost: NanoUsd;
  /** Wall time of model calls, in milliseconds. */
  duration_api_ms: number;
  /** Wall time, in milliseconds. */
  duration_ms: number;
  /** Tokens and cost by model, over the whole session so far. */
  model_usage: Record<string, ModelUsage>;
  /** Origin of the run. */
  origin: RunOrigin;
  /** Outcome of the run. */
  outcome: Outcome;
  /** The questions that wait for an answer, in the order of their calls. Left out of the JSON when there is none. */
  pending_questions?: PermissionRequest[];
  /** Calls that were denied in this run. */
  permission_denials: PermissionDenial[];
  /** The session. */
  session_id: SessionId;
  /** Reason why the model stopped last. */
  stop_reason: StopReason | null;
  /** The structured output, if one was requested and given: exactly the model's text, checked against the schema. */
  structured_output: JsonText | null;
  /** The text of the last assistant message, empty if there is none. */
  text: string;
  /** Number of model messages of this run. */
  turns: number;
  /** Tokens of this run. */
  usage: Usage;
};

/** Start of a run. */
export type RunStarted = {
  /** The current directory. */
  cwd: string;
  /** Identity of the agent, unless it is the main one. */
  identity?: AgentIdentity | null;
  /** The model. */
  model: string;
  /** Origin of the run: a prompt or a notification. */
  origin: RunOrigin;
  /** The permission mode. */
  permission_mode: PermissionMode;
  /** `true` if the session has earlier runs. */
  resumed: boolean;
  /** The names of the tools that the model is offered. */
  tools: string[];
};

/** Audit of all logs of a session. */
export type SessionAudit = {
  /** Log of the session, then those of the agents that worked for it. */
  logs: NamedAudit[];
  /** Id of the session. */
  session: SessionId;
};

/** A session: many runs over one history. A UUID when windlass makes it. */
export type SessionId = string;

/** State of the session that changed. */
export type StateChange =
  /** The permission mode. */
  | {
    state: "permission_mode";
    /** The new mode. */
    mode: PermissionMode;
  }
  /** The model. */
  | {
    state: "model";
    /** The new model. */
    model: string;
  }
  /** The directory that later calls start in. */
  | {
    state: "cwd";
    /** The new directory. */
    cwd: string;
  }
  /** The todo list. */
  | {
    state: "todos";
    /** The list, a JSON array. */
    todos: JsonText;
  };

/** The state of the loop. */
export type Status =
  /** A model call begins. */
  | {
    status: "requesting";
    /** Attempt that begins. A repeat of the call is another one. */
    attempt_id: AttemptId;
    /** Reason for the call. */
    continuation: Continuation;
    /** The model. */
    model: string;
  }
  /** A failed call is repeated after a wait. */
  | RetryStatus & {
    status: "retrying";
  }
  /** The fallback model takes over. */
  | {
    status: "falling_back";
    /** The model that failed. */
    from: string;
    /** The model that takes over. */
    to: string;
  }
  /** The conversation is being replaced by a summary. */
  | {
    status: "compacting";
    /** Reason for the compaction. */
    trigger: CompactTrigger;
  }
  /** The conversation could not be replaced, and stays as it is. */
  | {
    status: "compaction_failed";
    /** Reason for the failure, in words. */
    message: string;
  }
  /** The cached prefix changed since the last call. */
  | {
    status: "cache_broken";
    /**
     * The changed part: `model`, `system`, `tools`, `history`, or `thinking` if words of a prompt ask for more of
     * it.
     */
    cause: string;
  }
  /** The price of this model is unknown, so no budget limits its calls. */
  | {
    status: "price_unknown";
    /** The model. */
    model: string;
  }
  /** Hooks run that have a status message for the waiting user. */
  | {
    status: "hooks_running";
    /** The status messages, one line for each hook. */
    message: string;
  }
  /** A notice for the user. */
  | {
    status: "notice";
    /** The notice, in a sentence. */
    message: string;
  };

/**
 * A message that was sent to the run, and its fate. A message that a run has taken gets exactly one of these, unless
 * its session closes first.
 */
export type Steered = {
  /** Id that the sender gave the message. */
  id: EntryId | null;
} & (
  /** The message is part of the conversation, and the model's next answer in this run answers it, too. */
  | {
    fate: "joined";
    /** Id of the message's entry in the log: the sender's id, if that could be used. */
    entry: EntryId;
  }
  /**
   * The message is kept out of the conversation, by hooks or because no provider accepts its content; the run
   * continues.
   */
  | {
    fate: "blocked";
    /** The reason: that of the hooks, or of the provider's limits. */
    reason: string;
  }
  /** The run ended before: the message becomes a prompt with a run of its own, before those that wait. */
  | {
    fate: "deferred";
  }
  /**
   * The run ended before, or the message was withdrawn: its sender has it back, and the model does not read it. May
   * come between runs.
   */
  | {
    fate: "returned";
  });

/** Why a model stopped. Others are possible. */
export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "stop_sequence" | "pause_turn" | "refusal" | "model_context_window_exceeded" | "malformed_tool_call" | "content_filter" | (string & {});

/** A task that has ended. */
export type TaskEnded = {
  /** Type of the agent, if the task is an agent. */
  agent_type: string | null;
  /** Description of the work in a line. Often in the model's words. */
  description: string;
  /** Duration, in milliseconds. */
  duration_ms: number;
  /** Id of the task, unique in the session. */
  id: TaskId;
  /** Kind of the work. */
  kind: TaskKind;
  /** File of the task's output, if there is one. */
  output_file: string | null;
  /** Report of an agent, for the model. */
  report: string | null;
  /** Final status. */
  status: TaskStatus;
  /** Result, in a sentence. */
  summary: string;
  /** The call that began it. */
  tool_use_id: ToolUseId;
  /** Resources used, if the task is an agent. */
  usage: TaskUsage | null;
};

/** Work in the background. Unique in its session. */
export type TaskId = string;

/** Work in the background. */
export type TaskInfo = {
  /** Type of the agent, if the task is an agent. */
  agent_type: string | null;
  /** Description of the work in a line. Often in the model's words. */
  description: string;
  /** Id of the task, unique in the session. */
  id: TaskId;
  /** Kind of the work. */
  kind: TaskKind;
  /** File of the task's output, if there is one. */
  output_file: string | null;
  /** The call that began it. */
  tool_use_id: ToolUseId;
};

/** Kind of a background task. */
export type TaskKind =
  /** A shell command on this machine. */
  | "local_bash"
  /** An agent of this process. */
  | "local_agent";

/** Progress of an agent in the background. */
export type TaskProgress = {
  /** Type of the agent, if the task is an agent. */
  agent_type: string | null;
  /** Description of the work in a line. Often in the model's words. */
  description: string;
  /** Id of the task, unique in the session. */
  id: TaskId;
  /** Kind of the work. */
  kind: TaskKind;
  /** The last tool that the agent used. */
  last_tool: string | null;
  /** File of the task's output, if there is one. */
  output_file: string | null;
  /** The call that began it. */
  tool_use_id: ToolUseId;
  /** Resources used so far. */
  usage: TaskUsage;
};

/** Final status of a task. */
export type TaskStatus =
  /** The task succeeded. */
  | "completed"
  /** The task failed. */
  | "failed"
  /** The user or the model stopped it, or the session ended. */
  | "stopped";

/** Resources that an agent has used so far. */
export type TaskUsage = {
  /** Time since its start, in milliseconds. */
  duration_ms: number;
  /** Number of its answered tool uses. */
  tool_uses: number;
  /** Tokens that its model read and wrote, over all calls. */
  total_tokens: number;
};

/** A point in time, in UTC with milliseconds: 2026-01-01T00:00:00.000Z */
export type Timestamp = string;

/** The hash of a `QuestionToken` in hexadecimal, as the log keeps it. */
export type TokenHash = string;

/** Failure of a tool, for hosts. The model reads the call's result instead. */
export type ToolFailure = {
  /** Kind of the failure. */
  kind: ToolFailureKind;
  /**
   * The cause inside the tool, with its own causes, such as `cannot read the index: permission denied`. Not for the
   * model: it may hold secrets.
   */
  source: string | null;
};

/** Kind of failure of a tool. */
export type ToolFailureKind =
  /** The input does not fit the tool. */
  | "invalid_input"
  /** The tool refused, with a text for the model. */
  | "rejected"
  /** The call was stopped. */
  | "cancelled"
  /** An error inside the tool; `source` has it. */
  | "internal"
  /** The tool's code panicked; `source` has the panic's message if that is a text. */
  | "panicked";

/** A call is answered. */
export type ToolFinished = {
  /** The verdict, when permission or hooks kept it from running. */
  denied: Decision | null;
  /** A unified diff of what changed on disk. */
  diff: string | null;
  /** Duration of the run, in milliseconds; zero when the tool did not run. */
  duration_ms: number;
  /** Id of the result's entry in the log. */
  entry: EntryId | null;
  /** Reason why the tool failed. `None` if it succeeded, did not run, or gave an error as its own result. */
  error?: ToolFailure | null;
  /** The result, as the model reads it. */
  result: ToolResult;
  /** The tool's structured output. */
  structured: JsonText | null;
  /** The tool's name. */
  tool: string;
  /** The files that the call wrote, with links followed. Only for calls that name their files beforehand. */
  written?: string[];
};

/** Progress of a tool. */
export type ToolProgress = {
  /** Time since the tool started, in milliseconds. */
  elapsed_ms: number;
  /** The progress, in words. */
  message: string;
  /** The tool's name. */
  tool: string;
  /** The tool use. */
  tool_use_id: ToolUseId;
};

/** The answer to a tool use. */
export type ToolResult = {
  /** Content for the model. */
  content: ToolResultContent;
  /** `true` if the call failed. */
  is_error?: boolean;
  /** The tool use that this answers. */
  tool_use_id: ToolUseId;
};

/** Content of a tool result, as the model reads it. */
export type ToolResultContent =
  /** Plain text. */
  | string
  /** Text, image and document blocks. */
  | ContentBlock[];

/** A tool begins to run. */
export type ToolStarted = {
  /** Kinds of the commands that the call runs, if its text was analysed. */
  command?: CommandKinds | null;
  /** The permission decision that lets the tool run. */
  decision: Decision | null;
  /** Preview of the file changes, if the session makes previews and the tool can compute one. */
  edits?: EditPreview | null;
  /** The input that runs, after hooks and answers changed it. */
  input: JsonText;
  /** One line that names what happens. */
  title: string;
  /** The tool's name. */
  tool: string;
  /** The tool use. */
  tool_use_id: ToolUseId;
};

/** A request of the model to run a tool. */
export type ToolUse = {
  /** The id that the result refers to. */
  id: ToolUseId;
  /** The input, exactly as the model wrote it. */
  input: JsonText;
  /** The tool's name, as the model wrote it. */
  name: string;
};

/**
 * One tool use, as the model named it (`toolu_…`), or a new id when the model repeats one. Unique in its
 * conversation.
 */
export type ToolUseId = string;

/** Destination of a permission update. */
export type UpdateDestination =
  /** In the user's settings file. */
  | "userSettings"
  /** In the project's settings file. */
  | "projectSettings"
  /** In the user's settings file for this project. */
  | "localSettings"
  /** In memory, until the session ends. */
  | "session"
  /** With the rules of the command line, in memory. */
  | "cliArg";

/**
 * Tokens of one model call or of a sum of calls, as the provider counted them.
 *
 * The three input figures are disjoint: `input_tokens` are those neither read
 * from nor written to the cache (Messages API, "usage").
 */
export type Usage = {
  /** Of those, tokens written with a lifetime of one hour. */
  cache_creation_1h_input_tokens: number;
  /** Input tokens written to the prompt cache (all lifetimes). */
  cache_creation_input_tokens: number;
  /** Input tokens read from the prompt cache. */
  cache_read_input_tokens: number;
  /** Input tokens that were billed at the plain rate. */
  input_tokens: number;
  /** Output tokens, thinking included. */
  output_tokens: number;
  /**
   * Cost as the provider reports it, in billionths of a dollar. It takes precedence over any known price. `None`:
   * not reported. A sum of calls has the sum of the reported costs.
   */
  reported_cost?: NanoUsd | null;
  /** Number of searches that the provider ran on its side. */
  web_search_requests: number;
};

/** How much of an allowance is used: from zero, nothing, to one, all of it. */
export type Utilization = number;

/** A decision, and the time of its record. */
export type VerdictAudit = {
  /** The last question about the call that was answered. `None` if there was none, or the log is older than this field. */
  answer?: AuditedAnswer | null;
  /** Time when the decision was recorded. */
  at: Timestamp;
  /** The final verdict. */
  decision: Decision;
  /** The exact call; absent when the input never became a call. */
  digest: CallDigest | null;
  /**
   * Opinion of the `PreToolUse` hooks on the call, decisive or not. `None` if they had none, or the log is older
   * than this field.
   */
  hook?: HookVerdict | null;
  /**
   * Changes of the model's input, in order: the verdict is on the last one. Empty when it is on the model's own
   * input.
   */
  input_changes?: InputChange[];
  /**
   * The call itself, if no message contains it because another call made it or a server asked for it. `None` for
   * calls of a message, and in logs older than this field.
   */
  made?: MadeCall | null;
  /** The sandbox of the session, if the call runs a program. `None` if there is none, or the log is older than this field. */
  sandbox?: AuditedSandbox | null;
  /** The tool use. */
  tool_use_id: ToolUseId;
};

/** What a watcher of a session sees: an event, or that the events with the numbers `from` up to, but not including, `to` are kept no longer. */
export type Watched =
  | Event
  | {
    type: "missed";
    from: number;
    to: number;
  };

/** Reason for withdrawing shown parts of a message. */
export type WithdrawReason =
  /** The stream failed and the call is repeated or given up. */
  | "stream_failed"
  /** The user stopped the run, or the session was handed over. */
  | "interrupted";
