//! Browsers: any web page can make one send requests to loopback. Where no token is needed, the only thing that tells such a
//! page from a program of this machine is what the browser says about it, so that is checked.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, header, uri::Authority};

use crate::access::Access;
use crate::app::{Code, Refusal};

/// Refuses calls by another name than loopback's (a name server can point any name at this machine: DNS rebinding),
/// and calls that a page of another origin made. Where a token is needed, or the port is open to other machines, any name may
/// be this server's.
pub(super) async fn check(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let own_name = access.answers_to_any_name();
    match judge(request.headers(), request.uri().authority(), own_name) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

fn judge(headers: &HeaderMap, authority: Option<&Authority>, any_name: bool) -> Result<(), Refusal> {
    // HTTP/1.0 and hand-made requests may have no host; a browser always sends one.
    let host = headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
    for host in host.into_iter().chain(authority.map(Authority::as_str)) {
        if !any_name && !is_loopback(host) {
            let message = format!(
                "this server is for programs of this machine, and the request names the host {host:?}: \
                 use 127.0.0.1 or localhost. A web page whose name points here could otherwise read these memories."
            );
            return Err(Refusal::new(Code::Forbidden, "HOST_DENIED", message));
        }
    }
    let hosts: Vec<&str> =
        headers.get_all(header::HOST).iter().filter_map(|host| host.to_str().ok()).collect();
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let host = origin.split_once("://").map(|(_, host)| host);
        if !host.is_some_and(|host| is_loopback(host) || (any_name && hosts.contains(&host))) {
            let message = format!(
                "this server is for programs of this machine, and a web page of {origin:?} made this request: \
                 pages of other origins could otherwise read and change these memories."
            );
            return Err(Refusal::new(Code::Forbidden, "ORIGIN_DENIED", message));
        }
    }
    Ok(())
}

/// Whether `host`, with or without a port, is this machine.
fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    // A user before the host would hide another one from a hasty look.
    if authority.as_str().contains('@') {
        return false;
    }
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn reason(host: Option<&str>, origin: Option<&str>) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if let Some(value) = value {
                headers.insert(name, HeaderValue::from_str(value).unwrap());
            }
        }
        judge(&headers, None, false).err().map(|refusal| refusal.reason)
    }

    #[test]
    fn programs_of_this_machine_are_served() {
        for host in ["127.0.0.1", "127.0.0.1:7421", "localhost:1", "LOCALHOST", "[::1]:7421", "127.9.9.9"] {
            assert_eq!(reason(Some(host), None), None, "{host}");
            assert_eq!(reason(Some(host), Some(&format!("http://{host}"))), None, "{host}");
        }
        assert_eq!(reason(None, None), None);
    }

    #[test]
    fn other_names_and_origins_are_refused() {
        for host in [
            "evil.example",
            "evil.example:7421",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "localhost@evil.example",
            "a b",
        ] {
            assert_eq!(reason(Some(host), None), Some("HOST_DENIED"), "{host}");
        }
        for origin in ["null", "https://evil.example", "http://localhost.evil.example", "localhost"] {
            assert_eq!(reason(Some("localhost"), Some(origin)), Some("ORIGIN_DENIED"), "{origin}");
        }
    }

    #[test]
    fn s6_where_a_token_is_needed_any_name_may_be_the_server_s() {
        let judged = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            judge(&headers, None, true).err().map(|refusal| refusal.reason)
        };
        assert_eq!(judged("memory.example:7421", None), None);
        assert_eq!(judged("memory.example:7421", Some("https://memory.example:7421")), None);
        assert_eq!(judged("memory.example", Some("https://evil.example")), Some("ORIGIN_DENIED"));
        assert_eq!(judged("memory.example", Some("null")), Some("ORIGIN_DENIED"));
    }
}
