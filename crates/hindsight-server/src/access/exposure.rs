//! Which addresses may be bound: any of loopback; another only with credentials and TLS, or when `insecure` says so out loud.

use std::net::SocketAddr;

use crate::config::Config;

/// An address that others could reach, without what keeps them out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{key} {address} can be reached from other machines, and there {}: {}; or bind loopback (127.0.0.1), or say --insecure",
    missing(*credentials, *tls), remedy(*credentials, *tls, data)
)]
pub struct Exposed {
    /// The key of the configuration, or flag.
    pub key: &'static str,
    /// The address.
    pub address: SocketAddr,
    /// Whether a token is needed.
    pub credentials: bool,
    /// Whether there are certificates.
    pub tls: bool,
    /// The data directory, for the line that helps.
    pub data: String,
}

impl Exposed {
    /// Looks at both addresses. With `insecure` the danger is said in the log instead.
    ///
    /// # Errors
    /// The first address that is not to be bound like this.
    pub(crate) fn check(config: &Config, credentials: bool) -> Result<(), Exposed> {
        let tls = !config.tls.cert.as_os_str().is_empty();
        for (key, address) in [("listen", config.listen), ("http", config.http)] {
            if address.ip().to_canonical().is_loopback() || (credentials && tls) {
                continue;
            }
            let data = config.data.display().to_string();
            let exposed = Exposed { key, address, credentials, tls, data };
            if !config.insecure {
                return Err(exposed);
            }
            tracing::warn!(
                "INSECURE: {key} {address} can be reached from other machines, and there {}: anyone on the way can {}",
                missing(credentials, tls),
                if credentials { "read tokens and memories" } else { "read and change every memory" }
            );
        }
        Ok(())
    }
}

fn missing(credentials: bool, tls: bool) -> &'static str {
    match (credentials, tls) {
        (false, false) => "are no credentials and there is no TLS",
        (false, true) => "are no credentials",
        (true, _) => "is no TLS",
    }
}

fn remedy(credentials: bool, tls: bool, data: &str) -> String {
    let token =
        format!("make a token with `hindsight token create --data {data} --name admin --right admin`");
    let certificate = "set tls.cert and tls.key";
    match (credentials, tls) {
        (false, false) => format!("{token}, and {certificate}"),
        (false, true) => token,
        (true, _) => certificate.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listen: &str, credentials: bool, tls: bool, insecure: bool) -> Result<(), Exposed> {
        let mut config = Config { listen: listen.parse().unwrap(), insecure, ..Config::default() };
        if tls {
            config.tls.cert = "cert.pem".into();
        }
        Exposed::check(&config, credentials)
    }

    #[test]
    fn s6_only_loopback_needs_no_locks() {
        for loopback in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(check(loopback, false, false, false), Ok(()), "{loopback}");
        }
        for open in ["0.0.0.0:1", "192.168.1.5:1", "[::]:1", "[::ffff:10.0.0.1]:1"] {
            assert!(check(open, false, false, false).is_err() && check(open, true, false, false).is_err());
            assert!(check(open, false, true, false).is_err());
            assert_eq!((check(open, true, true, false), check(open, false, false, true)), (Ok(()), Ok(())));
        }
        let line = check("0.0.0.0:1", false, false, false).unwrap_err().to_string();
        for part in ["hindsight token create", "tls.cert", "--insecure", "listen 0.0.0.0:1"] {
            assert!(line.contains(part), "{line}");
        }
        assert!(!check("0.0.0.0:1", true, false, false).unwrap_err().to_string().contains("token create"));
    }
}
