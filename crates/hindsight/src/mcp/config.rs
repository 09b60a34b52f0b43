//! What to paste into the configuration of an agent's program.

use clap::ValueEnum;
use serde_json::{Value, json};

/// Programs whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpClient {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
}

/// How the program reaches the memory.
pub(crate) enum Way {
    /// It starts this program and speaks to it over standard streams.
    Stdio { command: String, args: Vec<String> },
    /// It speaks to a server that runs.
    Http { url: String },
}

impl McpClient {
    /// The file that the text belongs into.
    pub(crate) const fn place(self) -> &'static str {
        match self {
            McpClient::ClaudeCode => ".mcp.json in the project's folder",
            McpClient::ClaudeDesktop => {
                "claude_desktop_config.json (macOS: ~/Library/Application Support/Claude, Windows: %APPDATA%\\Claude)"
            }
            McpClient::Cursor => "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder",
            McpClient::Vscode => ".vscode/mcp.json in the project's folder",
            McpClient::Codex => "~/.codex/config.toml",
        }
    }

    /// How the program writes "what HINDSIGHT_TOKEN holds"; a server without credentials ignores it.
    const fn token_placeholder(self) -> &'static str {
        match self {
            McpClient::Cursor => "${env:HINDSIGHT_TOKEN}",
            McpClient::Vscode => "${input:hindsight_token}",
            McpClient::ClaudeCode | McpClient::ClaudeDesktop | McpClient::Codex => "${HINDSIGHT_TOKEN}",
        }
    }

    /// The text.
    pub(crate) fn snippet(self, way: &Way) -> String {
        if self == McpClient::Codex {
            return codex(way);
        }
        let mut entry = match way {
            Way::Stdio { command, args } => json!({"command": command, "args": args}),
            Way::Http { url } => {
                json!({"url": url, "headers": {"Authorization": format!("Bearer {}", self.token_placeholder())}})
            }
        };
        // Claude Desktop and Cursor know what a URL is; the others want to be told, and each in its own word.
        let kind = match (self, way) {
            (McpClient::ClaudeCode | McpClient::Vscode, Way::Http { .. }) => Some("http"),
            (McpClient::Vscode, Way::Stdio { .. }) => Some("stdio"),
            _ => None,
        };
        if let (Some(kind), Some(entry)) = (kind, entry.as_object_mut()) {
            entry.insert("type".to_owned(), Value::from(kind));
        }
        let root = if self == McpClient::Vscode { "servers" } else { "mcpServers" };
        let mut whole = json!({root: {"memory": entry}});
        if let (McpClient::Vscode, Way::Http { .. }) = (self, way) {
            // It asks the person, and keeps the answer among its secrets.
            whole["inputs"] = json!([{"type": "promptString", "id": "hindsight_token",
                "description": "HindsightDB token", "password": true}]);
        }
        serde_json::to_string_pretty(&whole).unwrap_or_default()
    }
}

/// TOML; strings and lists of strings are written the same in JSON.
fn codex(way: &Way) -> String {
    match way {
        Way::Stdio { command, args } => {
            format!("[mcp_servers.memory]\ncommand = {}\nargs = {}", json!(command), json!(args))
        }
        Way::Http { url } => {
            format!("[mcp_servers.memory]\nurl = {}\nbearer_token_env_var = \"HINDSIGHT_TOKEN\"", json!(url))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_gets_what_it_reads() {
        let http = Way::Http { url: "http://127.0.0.1:7421/mcp/ops".to_owned() };
        let stdio = Way::Stdio { command: "/bin/hindsight".to_owned(), args: vec!["mcp".to_owned()] };
        let json =
            |client: McpClient, way: &Way| -> Value { serde_json::from_str(&client.snippet(way)).unwrap() };
        assert_eq!(
            json(McpClient::ClaudeCode, &http),
            json!({"mcpServers": {"memory": {"type": "http", "url": "http://127.0.0.1:7421/mcp/ops",
                "headers": {"Authorization": "Bearer ${HINDSIGHT_TOKEN}"}}}})
        );
        assert_eq!(
            json(McpClient::ClaudeDesktop, &stdio),
            json!({"mcpServers": {"memory": {"command": "/bin/hindsight", "args": ["mcp"]}}})
        );
        assert_eq!(
            json(McpClient::Cursor, &http),
            json!({"mcpServers": {"memory": {"url": "http://127.0.0.1:7421/mcp/ops",
                "headers": {"Authorization": "Bearer ${env:HINDSIGHT_TOKEN}"}}}})
        );
        assert_eq!(json(McpClient::Vscode, &stdio)["servers"]["memory"]["type"], "stdio");
        assert_eq!(
            McpClient::Codex.snippet(&stdio),
            "[mcp_servers.memory]\ncommand = \"/bin/hindsight\"\nargs = [\"mcp\"]"
        );
    }
}
