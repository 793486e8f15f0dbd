//! Tools of an application as those of a session: each call passes its gate.

use std::collections::HashMap;
use windlass::{Permissions, ToolCx, ToolError, ToolOutput, session, tool_fn};
use windlass_mcp_server::{GatedTools, ServeError};

type None = HashMap<String, String>;

/// One red pixel.
pub(crate) const PNG: &[u8] = include_bytes!("pixel.png");

pub(crate) async fn behind_the_gate() -> Result<GatedTools, ServeError> {
    let text = tool_fn("test_simple_text", "Says something.", |_: None, _: ToolCx| async {
        Ok("This is a simple text response for testing.")
    });
    let image = tool_fn("test_image_content", "Shows a pixel.", |_: None, _: ToolCx| async {
        ToolOutput::image("image/png", PNG)
    });
    let error = tool_fn("test_error_handling", "Fails.", |_: None, _: ToolCx| async {
        Err::<String, _>(ToolError::rejected("This tool intentionally returns an error for testing"))
    });
    let rules = Permissions::new().allow(["test_simple_text", "test_image_content", "test_error_handling"]);
    GatedTools::open(session().tools(text).tools(image).tools(error), rules).await
}
