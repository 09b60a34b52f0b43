//! The way to the server: its gRPC port with TLS, token and version, and its HTTP port with MCP in both generations.

use hindsight_client::{Error, ServerInfo};
use hindsight_core::{Namespace, Timestamp};
use hindsight_server::Config;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::{Value, json};

use super::finding::Finding;
use super::http::{Answer, ask};
use crate::clock;
use crate::connection::client_of;
use crate::failure::Failure;
use crate::profile::Globals;

/// How far the clocks of two machines may be apart, in milliseconds.
const CLOCKS_APART_MS: i64 = 5_000;
/// The generations of MCP that are tried: the last with `initialize`, and that with `server/discover`.
const MCP_LEGACY: &str = "2025-11-25";
const MCP_MODERN: &str = "2026-07-28";

/// The gRPC port, and what the server says of itself there.
pub(crate) async fn grpc(globals: &Globals) -> Vec<Finding> {
    const CHECK: &str = "gRPC port";
    let asked = match client_of(&globals.server, globals) {
        Ok(client) => client.server_info().await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let info = match asked {
        Ok(info) => info,
        Err(Failure::Call(Error::PermissionDenied { reason, message })) => {
            let fix = if reason == "TOKEN_MISSING" {
                "name the file of a token with --token-file or HINDSIGHT_TOKEN_FILE"
            } else {
                "make a token with `hindsight token create --data DIR --name NAME --right read`, and name its file with --token-file"
            };
            return vec![
                Finding::ok(CHECK, format!("{} answers", globals.server)),
                Finding::wrong("token", message, fix),
            ];
        }
        Err(Failure::Call(Error::Connect { url, hint })) => {
            let fix = "start a server with `hindsight serve`, or say where it is with --server";
            return vec![Finding::wrong(CHECK, format!("{url}: {hint}"), fix)];
        }
        Err(failure) => {
            let fix = "look into the server's log, which stands on its standard error";
            return vec![Finding::wrong(CHECK, failure.to_string(), fix)];
        }
    };
    let mut found = vec![Finding::ok(CHECK, format!("{} answers", globals.server))];
    if globals.token.is_some() || globals.token_file.is_some() {
        found.push(Finding::ok("token", "the server takes it"));
    }
    found.push(version(&info.version));
    found.push(match &info.embedding_model {
        Some(model) => {
            Finding::ok("embedding model", format!("{} ({} numbers)", model.name, model.dimension))
        }
        None => Finding::warning(
            "embedding model",
            "the server has none: memories are found by keywords, or by vectors that you send",
            "use a program that was built with its model",
        ),
    });
    found.push(writes(&info));
    found
}

fn writes(info: &ServerInfo) -> Finding {
    const CHECK: &str = "writes";
    match info.writes_refused.as_deref() {
        None => Finding::ok(CHECK, "taken"),
        Some("DISK_FULL") => Finding::wrong(
            CHECK,
            "refused: the disk is full",
            "free room on the server's disk; writes are then taken by themselves",
        ),
        Some(reason) => {
            Finding::wrong(CHECK, format!("refused: {reason}"), "mend the disk, and start the server again")
        }
    }
}

/// A server and its clients may be one minor version apart.
fn version(server: &str) -> Finding {
    const CHECK: &str = "version";
    let own = env!("CARGO_PKG_VERSION");
    let parts = |text: &str| -> Option<(u64, u64)> {
        let mut numbers = text.split('.').map(|part| part.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    let detail = format!("server {server}, this program {own}");
    match (parts(server), parts(own)) {
        (Some((major, minor)), Some((own_major, own_minor)))
            if major == own_major && minor.abs_diff(own_minor) <= 1 =>
        {
            Finding::ok(CHECK, detail)
        }
        _ => Finding::warning(CHECK, detail, "use a program and a server of the same version"),
    }
}

/// The HTTP port: whether it lives and is ready, how its clock stands to this one, and whether an agent's program is served.
pub(crate) async fn http(config: &Config, globals: &Globals) -> Vec<Finding> {
    const CHECK: &str = "HTTP port";
    if !config.tls.cert.as_os_str().is_empty() {
        return vec![Finding::skipped(
            CHECK,
            "it speaks TLS, which this check does not: try `curl https://…/readyz`",
        )];
    }
    let address = config.http.to_string();
    let answer = match ask(&address, "GET", "/readyz", &[], "").await {
        Ok(answer) => answer,
        Err(error) => {
            let fix = "start a server with `hindsight serve`, or say with --http where it serves HTTP";
            return vec![Finding::wrong(CHECK, format!("{address}: {error}"), fix)];
        }
    };
    let mut found = vec![match answer.status {
        200 => Finding::ok(CHECK, format!("{address} is ready")),
        status => {
            let detail = format!("{address} answers {status}: {}", answer.body.trim());
            Finding::wrong(CHECK, detail, "wait until it is ready, or look into the server's log")
        }
    }];
    found.extend(clocks(&answer));
    found.extend(mcp(&address, globals).await);
    found
}

fn clocks(answer: &Answer) -> Option<Finding> {
    let date = DateTimeParser::new().parse_timestamp(answer.header("date")?).ok()?;
    let theirs = Timestamp::from_ms(date.as_millisecond());
    let apart = theirs.as_ms().abs_diff(clock::now().as_ms());
    // The header has whole seconds.
    Some(if apart <= CLOCKS_APART_MS.unsigned_abs() + 1_000 {
        Finding::ok("server's clock", format!("says {theirs}"))
    } else {
        Finding::warning(
            "server's clock",
            format!("says {theirs}, {} s from this one", apart / 1_000),
            "let both clocks be kept: `timedatectl set-ntp true`",
        )
    })
}

/// MCP as agents' programs of both generations begin it.
async fn mcp(address: &str, globals: &Globals) -> Vec<Finding> {
    let Some(namespace) = &globals.namespace else {
        return vec![Finding::skipped("MCP", "name a namespace with -n to try it")];
    };
    let about = json!({"name": "hindsight-doctor", "version": env!("CARGO_PKG_VERSION")});
    let initialize = json!({"protocolVersion": MCP_LEGACY, "capabilities": {}, "clientInfo": about});
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MCP_MODERN,
        "io.modelcontextprotocol/clientInfo": about,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discover = json!({"_meta": meta});
    let mut found = Vec::new();
    for (check, version, method, params) in [
        ("MCP with initialize", MCP_LEGACY, "initialize", initialize),
        ("MCP of 2026-07-28", MCP_MODERN, "server/discover", discover),
    ] {
        found.push(one_call(check, address, namespace, globals, version, method, params).await);
    }
    found
}

async fn one_call(
    check: &'static str,
    address: &str,
    namespace: &Namespace,
    globals: &Globals,
    version: &str,
    method: &str,
    params: Value,
) -> Finding {
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", version.to_owned()),
        ("mcp-method", method.to_owned()),
    ];
    match crate::connection::token(globals) {
        Ok(Some(token)) => headers.push(("authorization", format!("Bearer {}", token.trim()))),
        Ok(None) => {}
        Err(failure) => return Finding::skipped(check, failure.to_string()),
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let fix = format!(
        "`hindsight -n {namespace} mcp config --client NAME --http http://{address}` prints what an agent's program needs"
    );
    match ask(address, "POST", &format!("/mcp/{namespace}"), &headers, &body).await {
        Ok(answer) if answer.status == 200 && answer.body.contains("\"serverInfo\"") => {
            Finding::ok(check, format!("http://{address}/mcp/{namespace} answers"))
        }
        Ok(answer) => {
            let body: String = answer.body.chars().take(200).collect();
            Finding::wrong(check, format!("answers {}: {}", answer.status, body.trim()), fix)
        }
        Err(error) => Finding::wrong(check, error.to_string(), fix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Grade;

    #[test]
    fn versions_may_be_one_minor_apart() {
        assert_eq!(version(env!("CARGO_PKG_VERSION")).grade, Grade::Ok);
        assert_eq!(version("0.2.9").grade, Grade::Ok);
        assert_eq!(version("0.9.0").grade, Grade::Warning);
        assert_eq!(version("soon").grade, Grade::Warning);
    }
}
