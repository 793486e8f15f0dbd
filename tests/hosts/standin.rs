//! The least program that an SDK takes for an agent: it answers at once with the
//! frames of a turn. `speed.py` and `speed.mjs` measure windlass beside it.
//!
//! A prompt with `add up N` in it has the host's tool `mcp__calc__add` called so often,
//! over the handshake that MCP asks for. Built with `rustc -O`: nothing but std.

use std::io::{BufRead, Write};

const SESSION: &str = "12345678-1234-4234-8234-123456789abc";
const USAGE: &str = r#"{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":null,"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0}}"#;

struct Host<R, W> {
    input: R,
    output: W,
    line: String,
    ids: u64,
    connected: bool,
}

impl<R: BufRead, W: Write> Host<R, W> {
    fn read(&mut self) -> bool {
        self.line.clear();
        self.input.read_line(&mut self.line).is_ok_and(|length| length > 0)
    }

    fn write(&mut self, frame: &str) {
        // As windlass: one write a frame.
        self.output.write_all(format!("{frame}\n").as_bytes()).expect("the host reads");
    }

    fn id(&mut self) -> String {
        self.ids += 1;
        format!("00000000-0000-4000-8000-{:012}", self.ids)
    }

    /// Asks the host's MCP server, and waits for what it says.
    fn ask(&mut self, message: &str) {
        let id = self.id();
        self.write(&format!(
            r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"mcp_message","server_name":"calc","message":{message}}}}}"#
        ));
        while self.read() && !self.line.contains(&id) {
            self.answer();
        }
    }

    /// Answers a control request with success.
    fn answer(&mut self) {
        if !self.line.contains("control_request") {
            return;
        }
        let Some(id) = self.line.split("\"request_id\"").nth(1).and_then(|rest| rest.split('"').nth(1)) else { return };
        let response = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{}}}}}}"#
        );
        self.write(&response);
    }

    fn assistant(&mut self, block: &str) {
        let id = self.id();
        self.write(&format!(
            r#"{{"type":"assistant","message":{{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{USAGE}}},"parent_tool_use_id":null,"session_id":"{SESSION}","uuid":"{id}"}}"#
        ));
    }

    fn turn(&mut self) {
        let times = self.line.split("add up ").nth(1).map_or("", |rest| rest.split('"').next().unwrap_or(""));
        let times: u32 = times.parse().unwrap_or(0);
        if times > 0 && !self.connected {
            self.connected = true;
            self.ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"standin","version":"1"}}}"#);
            self.ask(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            self.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#);
        }
        let id = self.id();
        self.write(&format!(
            r#"{{"type":"system","subtype":"init","cwd":"/","session_id":"{SESSION}","tools":["Bash","Edit","Glob","Grep","MultiEdit","Read","TodoWrite","Write"],"mcp_servers":[],"model":"claude-sonnet-4-5","permissionMode":"default","slash_commands":[],"apiKeySource":"ANTHROPIC_API_KEY","claude_code_version":"2.1.328","output_style":"default","agents":[],"skills":[],"plugins":[],"uuid":"{id}"}}"#
        ));
        for _ in 0..times {
            self.assistant(r#"{"type":"tool_use","id":"toolu_1","name":"mcp__calc__add","input":{"a":1,"b":2}}"#);
            self.ask(
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#,
            );
            let id = self.id();
            self.write(&format!(
                r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":[{{"type":"text","text":"3"}}]}}]}},"parent_tool_use_id":null,"session_id":"{SESSION}","uuid":"{id}"}}"#
            ));
        }
        self.assistant(r#"{"type":"text","text":"Hello."}"#);
        let id = self.id();
        self.write(&format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"Hello.","stop_reason":"end_turn","session_id":"{SESSION}","total_cost_usd":0.00018,"usage":{USAGE},"modelUsage":{{}},"permission_denials":[],"terminal_reason":"completed","uuid":"{id}"}}"#
        ));
    }
}

fn main() {
    let mut host = Host {
        input: std::io::stdin().lock(),
        // Not buffered by the line: each frame is one write.
        output: output(),
        line: String::new(),
        ids: 0,
        connected: false,
    };
    while host.read() {
        if host.line.contains("\"type\": \"user\"") || host.line.contains("\"type\":\"user\"") {
            host.turn();
        } else {
            host.answer();
        }
    }
}

fn output() -> std::fs::File {
    use std::os::fd::AsFd;
    let output = std::io::stdout().as_fd().try_clone_to_owned().expect("there is an output");
    output.into()
}
