// The types of the JSON that windlass writes and reads. See README.md.
// Made from the JSON Schemas beside this file. Renew it with:
// for c in types testkit; do WINDLASS_RENEW=1 cargo test -p windlass-$c published; done

/** An agent below the main one. Unique in its session. */
export type AgentId = string;

/** The id and type of an agent below the main one. */
export type AgentIdentity = {
  /** Its id. */
  agent_id: AgentId;
  /** The name of its definition, such as `general-purpose`. */
  agent_type: string;
};

/** The path of tool uses that leads to an agent; empty for the main agent. */
export type AgentPath = ToolUseId[];

/** Whose answer to a question counted. */
export type AnsweredBy =
  /** A `PermissionRequest` hook. */
  | "hook"
  /** The host: a person or a program that was asked, or, of a question that outlives its process, the holder of its token. */
  | "host";

/** That a question about a call was answered, and by whom. */
export type AuditedAnswer = {
  /** Whose answer counted. */
  by: AnsweredBy;
  /** The question. */
  question: QuestionId;
};

/** What the sandbox of a session has to do with a call. */
export type AuditedSandbox = {
  /** Whether the program runs inside. */
  confines: boolean;
  /** The level that was proved when the session opened, in words. */
  level: string;
};

/**
 * What happens to a call. Ordered: `Deny < Ask < Allow`, and a compound call
 * takes the minimum of its parts.
 */
export type Behavior =
  /** It does not run. */
  | "deny"
  /** The host is asked. */
  | "ask"
  /** It runs. */
  | "allow";

/** What the log says of one call. Whatever is `None` or empty is not recorded: the log may be older, or of another program. */
export type CallAudit = {
  /** When that line was made. */
  at: Timestamp;
  /** When its intent was first recorded: it was about to run. Calls that only read have none. */
  begun: Timestamp | null;
  /** The files that its result says it changed. What programs change is not recorded. */
  changed: FileChanged[];
  /** The id of that line. */
  entry: EntryId;
  /** The input that the model gave. */
  input: JsonText | null;
  /** The line of the log that holds the call, or else the first that speaks of it, counted from one. */
  line: number;
  /** Whether all lines that speak of it are as they were written. */
  lines: LineState;
  /** The permission mode in force when the call was judged, or made if no verdict is recorded. */
  mode: PermissionMode | null;
  /** The questions about it that were kept for a later answer, in order. */
  questions: QuestionAudit[];
  /** How it ended. */
  result: ResultAudit | null;
  /** Its tool. `None` if the message that holds the call is lost. */
  tool: string | null;
  /** The call. Logs of other programs may use an id again; each use is a call of its own here. */
  tool_use_id: ToolUseId;
  /** The verdicts on it, in order. */
  verdicts: VerdictAudit[];
  /** The agent whose answers it waits for: it stays open, and continues with that. */
  waits_for: AgentId | null;
};

/**
 * The digest of one exact call: tool, final input text, current directory,
 * resolved paths and agent path. An approval holds for one digest.
 */
export type CallDigest = string;

/** The kinds of the commands of a line, from their programs. A line may have several. For showing a call: no verdict depends on it. */
export type CommandKinds = {
  /** `true` if a command lists folders, such as `ls` and `du`. */
  list: boolean;
  /** `true` if a command shows the content of files, such as `cat` and `jq`. */
  read: boolean;
  /** `true` if a command searches files or names, such as `grep` and `find`. */
  search: boolean;
  /** `true` if all commands print nothing where they succeed, such as `mkdir` and `mv`. */
  silent: boolean;
  /** `true` if a command is known to change files: by its program, an option or a redirection. */
  write: boolean;
};

/** Why a conversation was compacted. */
export type CompactTrigger =
  /** The user asked for it. */
  | "manual"
  /** It filled most of the model's context window. */
  | "auto"
  /** It was too long for the model. */
  | "overflow";

/** A conversation that was replaced by a summary. */
export type Compacted = {
  /** The id of the boundary in the log. */
  boundary: EntryId;
  /** How long it took, in milliseconds. */
  duration_ms: number;
  /** The id of the summary in the log. */
  entry: EntryId;
  /** How long it is now, in tokens, estimated. */
  post_tokens: number;
  /** How long the conversation was, in tokens. */
  pre_tokens: number;
  /** What the model reads from now on instead. */
  summary: string;
  /** Why. */
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
    /** What the provider needs to read the block again: its signature, or the encrypted item as JSON text. */
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
    /** Where its bytes are. */
    source: ImageSource;
  }
  /** A document, such as a PDF. */
  | {
    type: "document";
    /** Where its bytes are. */
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

/** Why the loop called the model again. */
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
  /** The structured output is missing and was asked for. */
  | "structured_output";

/** The verdict on one call, with its whole reason. */
export type Decision = {
  /** What happens. */
  behavior: Behavior;
  /** The path that stood in the way. */
  blocked_path: string | null;
  /** The reason in a sentence, for people and for the model. */
  message: string;
  /** The command of the line that decided, as it stands there, if the call is a line of several commands and one of them did. */
  part?: string | null;
  /** Whether the safety floor decided, which no rule, hook or mode lifts. */
  protected: boolean;
  /** Which part of the pipeline decided. */
  reason: DecisionReason;
  /** The rule that decided, if one did. */
  rule: MatchedRule | null;
  /**
   * Alternatives, the narrowest first: each alone lets the call run and keeps the question from coming again. Choose one;
   * all together allow no more than the last.
   */
  suggestions: PermissionUpdate[];
};

/** Which part of the pipeline decided. */
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

/** What was added to a block. */
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

/** Where the bytes of a document are. */
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

/** The files that a call is about to change, and how. */
export type EditPreview = {
  /**
   * The change as a unified diff, of at most `MOST_BYTES`. It is what the call would do if it ran
   * at the moment at which it was read; a file that changes after that gives another one.
   */
  diff: string;
  /** Whether the end of the diff was left out. */
  is_cut?: boolean;
  /** The files, with their links followed. */
  paths: string[];
};

/** What becomes of a question of a server. Ordered: the stricter answer is less. */
export type ElicitationChoice =
  /** It stays without an answer, as when the user closes a dialog. */
  | "cancel"
  /** The server is not to have what it asks for. */
  | "decline"
  /** The server gets an answer. */
  | "accept";

/** The answer to a question of a server. */
export type ElicitationReply = {
  /** What becomes of the question. */
  action: ElicitationChoice;
  /** The values of the form, if it is accepted. Default: none. */
  content?: JsonText | null;
};

/** One line of the session log. Formatted as a UUID v4. */
export type EntryId = string;

/** One event of a run. */
export type Event = {
  /** The agent it is about. */
  agent: AgentPath;
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
    /** What was added. */
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
    /** The message. */
    message_id: MessageId;
    /** The model that wrote it. */
    model: string;
    /** Why it ended. */
    stop_reason: StopReason | null;
    /** What it used. */
    usage: Usage;
  }
  /** What was shown of an unfinished message does not count. */
  | {
    type: "message_withdrawn";
    /** The message, if it had begun. */
    message_id: MessageId | null;
    /** Why. */
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
    /** What they answered. */
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
  /** A message that was sent to the run is part of it, or will not be. */
  | Steered & {
    type: "steered";
  }
  /** A call left work in the background. */
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

/** A file that a call has changed. */
export type FileChanged = {
  /** Lines that were added, if the result says so. */
  added: number | null;
  /** Its path, as the result names it. */
  path: string;
  /** Lines that were removed, if the result says so. */
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
  /** A call was denied: by a rule, the mode, the host, a hook, or because no one could be asked. */
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

/** What all hooks of one occasion answer together, merged in their declared order. */
export type HookOutcome = {
  /** Context for the model. */
  additional_context: string[];
  /** PermissionRequest: the answer, a deny before an allow. */
  answer?: PermissionAnswer | null;
  /** Of events that can be blocked, or take feedback: the reason. */
  block: HookVerdict | null;
  /** Elicitation, ElicitationResult: the answer for the server, the strictest if there are several. */
  elicitation?: ElicitationReply | null;
  /** Hooks that failed, with what happened. */
  failures: [string, string][];
  /** What programs of hooks have written. A hook that runs in this process writes none. */
  outputs?: HookOutput[];
  /** The names of the hooks that ran, in declared order. */
  ran: string[];
  /** Ends the run after this, with a reason. */
  stop: string | null;
  /** Messages for the user. */
  system_messages: string[];
  /** PreToolUse: the input to use instead. */
  updated_input: JsonText | null;
  /** PostToolUse: what the model reads instead. */
  updated_output?: ToolResultContent | null;
  /** PreToolUse: the lowest opinion, deny before defer before ask before allow. */
  verdict: HookVerdict | null;
};

/** What the program of a hook has written, for people. */
export type HookOutput = {
  /** The code that it ended with. `None`: it is no program, or was ended by a signal. */
  exit_code?: number | null;
  /** The name of the hook. */
  hook: string;
  /** What it wrote to its error output. */
  stderr: string;
  /** What it wrote to its output. */
  stdout: string;
};

/** A hook's opinion on a call. */
export type HookVerdict = {
  /** Whether the call may run, in the hook's opinion. */
  behavior: Behavior;
  /** Whether the call is to be kept for later: it asks, and no one is asked now. Default: no. */
  defers?: boolean;
  /** The name of the hook. */
  hook: string;
  /** Why. */
  reason: string;
};

/** Where the bytes of an image are. */
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
  /** Who changed it. */
  by: InputChangedBy;
  /** The new input. */
  input: JsonText;
};

/** Who changed the input of a call. */
export type InputChangedBy =
  /** A `PreToolUse` hook, before the call was judged. */
  | "hook"
  /** The answer to the question about the call: that of the host, or of a `PermissionRequest` hook. */
  | "host"
  /** The tool's own schema: a `null` for a property that may be left out, and may not be `null`, counts as absent. */
  | "schema";

/** What the user interrupted. */
export type Interrupted =
  /** The model was being called or was streaming. */
  | "streaming"
  /** Tools were being judged or were running. */
  | "tools"
  /** Nothing of the run had begun. */
  | "starting";

/** Any JSON, as exactly the text that it arrived in. */
export type JsonText = unknown;

/** Which lines of a log can be relied on. */
export type LineAudit = {
  /** Lines that do not match the checksum that was written behind them: they were changed, added or removed since. */
  altered: LineRange[];
  /** Lines that could not be used, a sentence each. */
  damage: string[];
  /** How many lines there are. */
  total: number;
  /** Lines that no checksum covers: another program wrote them, or the one that did ended before they were synced. */
  unchecked: LineRange[];
};

/** Lines of a log, counted from one. */
export type LineRange = {
  /** The first. */
  first: number;
  /** The last. */
  last: number;
};

/**
 * Whether lines are as they were written. A checksum shows damage and careless changes; someone who changes a log on purpose
 * can write new ones, which only a `LogHead` that is kept elsewhere shows.
 */
export type LineState =
  /** They match their checksum. */
  | "checked"
  /** No checksum covers them. */
  | "unchecked"
  /** They do not match their checksum. */
  | "altered";

/**
 * A call that a running call made, such as one of a program. It passes the gate like any call, and its result goes back to
 * its maker. No message holds it, so events and the log name it by its id, which begins with `MadeCall::ID_PREFIX`.
 */
export type MadeCall = {
  /**
   * The tool use that made it. Of what a server asks for beside the calls, such as a message of a model, it is the id of that
   * request itself.
   */
  by: ToolUseId;
  /** Its input, as it was made. */
  input: JsonText;
  /** The name of its tool. */
  tool: string;
};

/** A rule that decided. */
export type MatchedRule = {
  /** Whether it allows, asks or denies. */
  behavior: Behavior;
  /** Where it stands, if it stands in a file. `None` also in logs that are older than this field. */
  origin?: RuleOrigin | null;
  /** Its text, as it was written. */
  rule: string;
  /** Where it comes from. */
  source: RuleSource;
};

/** A model message, as the provider named it (`msg_…`). */
export type MessageId = string;

/** What kind of failure a model call ended in. The loop decides by it. */
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
  /** What was sent back of earlier messages (a signature, encrypted reasoning) was refused. */
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
  /** The most tokens it can write; zero when unknown. */
  max_output_tokens: number;
  /** Whether the cost of the last call is known: by a price, or because the provider reported it. */
  priced: boolean;
  /**
   * How much of the cost the provider reported itself; the rest is computed from prices. Left out of the JSON when it is
   * zero.
   */
  reported_cost?: NanoUsd;
  /** Tokens. */
  usage: Usage;
};

/** The audit of one of the logs of a session. */
export type NamedAudit = {
  /** The agent whose log it is; `None` for that of the session. */
  agent: AgentId | null;
  /** The calls, in the order of their lines. */
  calls: CallAudit[];
  /** Which lines can be relied on. */
  lines: LineAudit;
};

/**
 * Money in billionths of a US dollar. A price of 3 USD per million tokens is
 * 3,000 of these per token, so sums are exact.
 */
export type NanoUsd = number;

/** How a run ended. */
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
    /** How often it was tried. */
    attempts: number;
  }
  /** The user stopped it. */
  | {
    type: "interrupted";
    /** What was interrupted. */
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
   * The model finished its answer, but work that it left in the background took too long, or the session was closed
   * before it ended. It was stopped.
   */
  | {
    type: "background_stopped";
    /** What was stopped. */
    tasks: TaskInfo[];
  }
  /**
   * Questions wait for an answer that may come later, also from another process. Their calls have not run; the run
   * continues with `Prompt::continue_run`.
   */
  | {
    type: "pending";
    /** The questions, in the order of their calls. The result has all of each. */
    questions: QuestionId[];
  }
  /** It failed. */
  | RunFailure & {
    type: "failed";
  };

/** What the host answers. */
export type PermissionAnswer =
  /** It may run. */
  | {
    behavior: "allow";
    /** Runs with this input instead; it is judged again from the deny rules on. */
    updated_input?: JsonText | null;
    /** Changes of permissions to keep. */
    updates?: PermissionUpdate[];
  }
  /** It may not. */
  | {
    behavior: "deny";
    /** Whether the whole run stops. */
    interrupt?: boolean;
    /** What the model should read. */
    message: string;
  };

/** A denied call, as the result of a run lists it. */
export type PermissionDenial = {
  /** Its input. */
  tool_input: JsonText;
  /** The tool's name. */
  tool_name: string;
  /** The tool use. */
  tool_use_id: ToolUseId;
};

/** A kind of calls. */
export type PermissionGroup =
  /** They only read: files, or pages of the web (`WebFetch`, `WebSearch`). */
  | "read_only"
  /** They change files that they name. */
  | "edit"
  /** They run programs. */
  | "execution"
  /** They are calls of tools of MCP servers, whatever these do. */
  | "mcp"
  /** All others. */
  | "other";

/** How much may happen without a question. */
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
  /** What it would change in files, if the session looks at that beforehand and the tool can say it. */
  edits?: EditPreview | null;
  /** What kind of call it is. */
  group: PermissionGroup;
  /**
   * The question itself: an answer names it. A call whose input an answer changed may be asked about again, under
   * another id.
   */
  id: QuestionId;
  /** Who that agent is, if it is not the main one. */
  identity: AgentIdentity | null;
  /** The exact input that will run. */
  input: JsonText;
  /** One line that names what will happen, control characters made visible. */
  title: string;
  /**
   * What an answer of another process has to show, where the run waits for answers. `None`: the question ends with
   * this process, or its token was given when it was first asked. Left out of the JSON then.
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
    /** Whether they allow, ask or deny. */
    behavior: Behavior;
    /** Where they go. */
    destination: UpdateDestination;
    /** The rules. */
    rules: RuleValue[];
  }
  /** Replaces all rules of one behaviour. */
  | {
    type: "replaceRules";
    /** Whether they allow, ask or deny. */
    behavior: Behavior;
    /** Where they go. */
    destination: UpdateDestination;
    /** The rules. */
    rules: RuleValue[];
  }
  /** Removes rules. */
  | {
    type: "removeRules";
    /** Whether they allow, ask or deny. */
    behavior: Behavior;
    /** Where they are. */
    destination: UpdateDestination;
    /** The rules. */
    rules: RuleValue[];
  }
  /** Changes the mode. */
  | {
    type: "setMode";
    /** Where it goes. */
    destination: UpdateDestination;
    /** The new mode. */
    mode: PermissionMode;
  }
  /** Adds directories to the workspace. */
  | {
    type: "addDirectories";
    /** Where they go. */
    destination: UpdateDestination;
    /** The directories. */
    directories: string[];
  }
  /** Removes directories from the workspace. */
  | {
    type: "removeDirectories";
    /** Where they are. */
    destination: UpdateDestination;
    /** The directories. */
    directories: string[];
  };

/** A question that was kept for a later answer. */
export type QuestionAudit = {
  /** The assistant line that holds the tool use. */
  assistant: EntryId;
  /** When it was asked. */
  at: Timestamp;
  /** The directory that the call would start in. */
  cwd: string;
  /**
   * Rules by which a command or a skill denies calls of the run. They hold as well when the run is continued; what it
   * allowed does not.
   */
  denied?: string[];
  /** The exact call that was asked about. An answer holds for no other. */
  digest: CallDigest;
  /** The hashes of tokens that earlier openings gave for it, the last first: they count still. */
  earlierTokens?: TokenHash[];
  /** The question. */
  id: QuestionId;
  /** Whether it waits for an answer: no verdict, result or intent followed. */
  is_open: boolean;
  /** The commands and skills of the run whose hooks listened. They listen as well when the run is continued. */
  skills?: string[];
  /** One line that names what would happen, control characters made visible. */
  title: string;
  /** The hash of the token that an answer of another process has to show. */
  token: TokenHash;
  /** The tool's name. */
  tool: string;
  /** The tool use. */
  toolUseId: ToolUseId;
};

/** A question to the host. Unique in its session, over all agents. Formatted as a UUID v4. */
export type QuestionId = string;

/**
 * What proves the right to answer a question from another process. A secret: it is in the event and in the result that
 * ask, never in the log, and not shown by `Debug`.
 */
export type QuestionToken = string;

/**
 * The allowance of a subscription, as its provider reports it: whether requests are
 * still served, and when the window that decides begins anew.
 *
 * Only the status is always known. Not to be mixed up with limits on requests or
 * tokens a minute, which a provider enforces without regard to a subscription.
 */
export type RateLimit = {
  /** Whether this request was beyond the allowance and served at extra cost. */
  is_using_overage?: boolean | null;
  /** The window that decides. */
  kind?: RateLimitKind | null;
  /** Why those are not served, as the provider names it, such as `out_of_credits`. */
  overage_disabled_reason?: string | null;
  /** When the window of those begins anew, in seconds since the Unix epoch. */
  overage_resets_at?: number | null;
  /** Whether requests beyond the allowance are served, at extra cost. */
  overage_status?: RateLimitStatus | null;
  /** When the window begins anew, in seconds since the Unix epoch. */
  resets_at?: number | null;
  /** Whether requests are served. */
  status: RateLimitStatus;
  /** How much of that window is used. */
  utilization?: Utilization | null;
};

/** The window of time, and perhaps the models, that an allowance is for. Others are possible. */
export type RateLimitKind = "five_hour" | "seven_day" | "seven_day_opus" | "seven_day_sonnet" | "seven_day_overage_included" | "overage" | (string & {});

/** Whether a subscription's requests are served. Others are possible. */
export type RateLimitStatus = "allowed" | "allowed_warning" | "rejected" | (string & {});

/** How a call ended. */
export type ResultAudit = {
  /** When the result was recorded. */
  at: Timestamp;
  /** Whether the model read it as an error. */
  is_error: boolean;
  /** Whether the runtime made it because the call never ended. */
  is_made_up: boolean;
};

/** A failed model call that will be repeated. */
export type RetryStatus = {
  /** Which repeat follows, from one. */
  attempt: number;
  /** How long until then, in milliseconds. */
  delay_ms: number;
  /** What failed. */
  error: ModelErrorKind;
  /** The HTTP status, if there was one. */
  http_status: number | null;
  /** How many repeats there are at most. */
  max_retries: number;
  /** What failed, in words. */
  message: string;
};

/** Where a rule stands. */
export type RuleOrigin = {
  /** The file. */
  file: string;
  /** The line, counted from one, if it is known. */
  line?: number | null;
};

/** Where a rule comes from. */
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
  /** What stands in the parentheses; absent for a rule on the whole tool. */
  ruleContent?: string | null;
  /** The tool's name. */
  toolName: string;
};

/** A failure that ended a run. */
export type RunFailure = {
  /** What kind. */
  kind: RunFailureKind;
  /** What happened and what to do, in a sentence. */
  message: string;
  /** The HTTP status, when the provider answered with one. */
  status: number | null;
};

/** What kind of failure ended a run. */
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

/** What a run answers. */
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
  /** What it answered. */
  origin: RunOrigin;
  /** How it ended. */
  outcome: Outcome;
  /** The questions that wait for an answer, in the order of their calls. Left out of the JSON when there is none. */
  pending_questions?: PermissionRequest[];
  /** Calls that were denied in this run. */
  permission_denials: PermissionDenial[];
  /** The session. */
  session_id: SessionId;
  /** Why the model stopped last. */
  stop_reason: StopReason | null;
  /**
   * The structured output, when one was asked for and given: exactly what
   * the model wrote, checked against the schema.
   */
  structured_output: JsonText | null;
  /** The text of the last assistant message, empty if there is none. */
  text: string;
  /** Model messages of this run. */
  turns: number;
  /** Tokens of this run. */
  usage: Usage;
};

/** What a run begins with. */
export type RunStarted = {
  /** The current directory. */
  cwd: string;
  /** Who the agent is, if it is not the main one. */
  identity?: AgentIdentity | null;
  /** The model. */
  model: string;
  /** What the run answers. */
  origin: RunOrigin;
  /** The permission mode. */
  permission_mode: PermissionMode;
  /** Whether the session has earlier runs. */
  resumed: boolean;
  /** The names of the tools that the model is offered. */
  tools: string[];
};

/** What the logs of a session say of its calls. */
export type SessionAudit = {
  /** Its log, then those of the agents that worked for it. */
  logs: NamedAudit[];
  /** The session. */
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
    /** Why. */
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
    /** Why. */
    trigger: CompactTrigger;
  }
  /** The conversation could not be replaced, and stays as it is. */
  | {
    status: "compaction_failed";
    /** Why, in words. */
    message: string;
  }
  /** The cached prefix changed since the last call. */
  | {
    status: "cache_broken";
    /** What changed: `model`, `system`, `tools`, `history`, or `thinking` where words of a prompt ask for more. */
    cause: string;
  }
  /** The provider does not say what this model costs, so no budget holds for it. */
  | {
    status: "price_unknown";
    /** The model. */
    model: string;
  }
  /** Hooks run that have words for the people who wait meanwhile. */
  | {
    status: "hooks_running";
    /** The words, one line for each hook. */
    message: string;
  }
  /** A notice for the user. */
  | {
    status: "notice";
    /** The notice, in a sentence. */
    message: string;
  };

/**
 * A message that was sent to the run, and what became of it. A message that a run has taken gets exactly one of
 * these, unless its session closes first.
 */
export type Steered = {
  /** The id that it was sent with, if it had one. */
  id: EntryId | null;
} & (
  /** It is part of the conversation, and the model's next answer in this run is one to it, too. */
  | {
    fate: "joined";
    /** Its entry in the log: the id that it was sent with, if that could be used. */
    entry: EntryId;
  }
  /** It is kept out of the conversation, by hooks or because no provider takes what is in it; the run continues. */
  | {
    fate: "blocked";
    /** The reason: that of the hooks, or of the provider's limits. */
    reason: string;
  }
  /** The run ended before: it is a prompt with a run of its own, before those that wait. */
  | {
    fate: "deferred";
  }
  /**
   * The run ended before, or it was withdrawn: its sender has it back, and the model does not read it. May
   * come between runs.
   */
  | {
    fate: "returned";
  });

/** Why a model stopped. Others are possible. */
export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "stop_sequence" | "pause_turn" | "refusal" | "model_context_window_exceeded" | "malformed_tool_call" | "content_filter" | (string & {});

/** A task that has ended. */
export type TaskEnded = {
  /** The type of the agent, if it is one. */
  agent_type: string | null;
  /** What it does, in a line. Often in the model's words. */
  description: string;
  /** How long it ran, in milliseconds. */
  duration_ms: number;
  /** Its name, unique in the session. */
  id: TaskId;
  /** What kind of work it is. */
  kind: TaskKind;
  /** Where its output goes, if it has any. */
  output_file: string | null;
  /** What an agent reports, for the model. */
  report: string | null;
  /** How it ended. */
  status: TaskStatus;
  /** Its result, in a sentence. */
  summary: string;
  /** The call that began it. */
  tool_use_id: ToolUseId;
  /** What it used, if it is an agent. */
  usage: TaskUsage | null;
};

/** Work in the background. Unique in its session. */
export type TaskId = string;

/** Work in the background. */
export type TaskInfo = {
  /** The type of the agent, if it is one. */
  agent_type: string | null;
  /** What it does, in a line. Often in the model's words. */
  description: string;
  /** Its name, unique in the session. */
  id: TaskId;
  /** What kind of work it is. */
  kind: TaskKind;
  /** Where its output goes, if it has any. */
  output_file: string | null;
  /** The call that began it. */
  tool_use_id: ToolUseId;
};

/** What kind of work a task is. */
export type TaskKind =
  /** A shell command on this machine. */
  | "local_bash"
  /** An agent of this process. */
  | "local_agent";

/** How far an agent in the background is. */
export type TaskProgress = {
  /** The type of the agent, if it is one. */
  agent_type: string | null;
  /** What it does, in a line. Often in the model's words. */
  description: string;
  /** Its name, unique in the session. */
  id: TaskId;
  /** What kind of work it is. */
  kind: TaskKind;
  /** The tool that it used last. */
  last_tool: string | null;
  /** Where its output goes, if it has any. */
  output_file: string | null;
  /** The call that began it. */
  tool_use_id: ToolUseId;
  /** What it used until now. */
  usage: TaskUsage;
};

/** How a task ended. */
export type TaskStatus =
  /** It did what it was to do. */
  | "completed"
  /** It failed. */
  | "failed"
  /** The user or the model stopped it, or the session ended. */
  | "stopped";

/** What an agent used until now. */
export type TaskUsage = {
  /** How long it has run, in milliseconds. */
  duration_ms: number;
  /** How many of its tool uses were answered. */
  tool_uses: number;
  /** Tokens that its model read and wrote, over all calls. */
  total_tokens: number;
};

/** A point in time, in UTC with milliseconds: 2026-01-01T00:00:00.000Z */
export type Timestamp = string;

/** The hash of a `QuestionToken` in hexadecimal, as the log keeps it. */
export type TokenHash = string;

/** Why a tool failed, for hosts. What the model reads is in the call's result. */
export type ToolFailure = {
  /** What kind of failure. */
  kind: ToolFailureKind;
  /**
   * The cause inside the tool, with its own causes, such as `cannot read the index: permission denied`. Not for the
   * model: it may hold secrets.
   */
  source: string | null;
};

/** What kind of failure of a tool. */
export type ToolFailureKind =
  /** The input is not what the tool takes. */
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
  /** How long it ran, in milliseconds; zero when it did not run. */
  duration_ms: number;
  /** Its id in the log. */
  entry: EntryId | null;
  /** Why the tool failed. `None` if it succeeded, did not run, or gave an error as its own result. */
  error?: ToolFailure | null;
  /** What the model reads. */
  result: ToolResult;
  /** The tool's structured output. */
  structured: JsonText | null;
  /** The tool's name. */
  tool: string;
  /** The files that it wrote, with links followed, of a call that names them beforehand. */
  written?: string[];
};

/** How far a tool is. */
export type ToolProgress = {
  /** How long it has run, in milliseconds. */
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
  /** What the model reads. */
  content: ToolResultContent;
  /** Whether the call failed. */
  is_error?: boolean;
  /** The tool use that this answers. */
  tool_use_id: ToolUseId;
};

/** What the model reads of a tool result. */
export type ToolResultContent =
  /** Plain text. */
  | string
  /** Text, image and document blocks. */
  | ContentBlock[];

/** A tool begins to run. */
export type ToolStarted = {
  /** Kinds of the commands that it runs, of a call whose text was analysed. */
  command?: CommandKinds | null;
  /** Why it may run. */
  decision: Decision | null;
  /** What it is about to change in files, if the session looks at that beforehand and the tool can say it. */
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
 * One tool use, as the model named it (`toolu_…`), or as it is named here when the model repeats an id.
 * Unique in its conversation.
 */
export type ToolUseId = string;

/** Where a permission update is kept. */
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
   * What the provider says that this cost, in billionths of a dollar. It counts for more than any price that is known.
   * `None`: it did not say. The sum of calls has the sum of what was said.
   */
  reported_cost?: NanoUsd | null;
  /** Searches that the provider ran on its side. */
  web_search_requests: number;
};

/** How much of an allowance is used: from zero, nothing, to one, all of it. */
export type Utilization = number;

/** A verdict, and when it was recorded. */
export type VerdictAudit = {
  /** The last question about the call that was answered. `None` if there was none, or the log is older than this field. */
  answer?: AuditedAnswer | null;
  /** When it was recorded. */
  at: Timestamp;
  /** The final verdict. */
  decision: Decision;
  /** The exact call; absent when the input never became a call. */
  digest: CallDigest | null;
  /**
   * What the `PreToolUse` hooks said of the call, whether or not that decided. `None` if they had no opinion, or the log is
   * older than this field.
   */
  hook?: HookVerdict | null;
  /**
   * What was made of the input that the model gave, in order: the verdict is on the last one. Empty when it is on
   * the model's own input.
   */
  input_changes?: InputChange[];
  /**
   * The call itself, if no message holds it: another call made it, or a server asked for it. `None` for calls of a message, or
   * the log is older than this field.
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

/** Why shown parts of a message do not count. */
export type WithdrawReason =
  /** The stream failed and the call is repeated or given up. */
  | "stream_failed"
  /** The user stopped the run. */
  | "interrupted";
