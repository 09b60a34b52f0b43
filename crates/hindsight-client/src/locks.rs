//! What opens a server's locks: a token, and the certificates of an encrypted connection.

use std::fmt;
use std::path::{Path, PathBuf};

use hindsight_core::Invalid;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use tonic::{Request, Status};

use crate::Error;
use crate::connect::{ConnectHint, Target};

/// Where systems keep the certificates of the authorities that they trust.
const SYSTEM_ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// Names another place for them.
const SYSTEM_ROOTS_VARIABLE: &str = "SSL_CERT_FILE";

/// A token or a key. `Debug` does not show it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// How a connection is encrypted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tls {
    /// Certificates of the authorities that may have signed the server's, as PEM; those of the system when there are none.
    pub(crate) ca: Option<Vec<u8>>,
    /// The name that the server's certificate is for, when it is not that of the URL.
    pub(crate) domain: Option<String>,
    /// The client's own certificate and key, as PEM.
    pub(crate) identity: Option<(Vec<u8>, Secret)>,
}

impl Tls {
    /// The settings of an encrypted connection.
    ///
    /// # Errors
    /// When no certificates of authorities are given, and the system has none where they are looked for.
    pub(crate) fn config(&self, target: &Target) -> Result<ClientTlsConfig, Error> {
        let ca = match &self.ca {
            Some(ca) => ca.clone(),
            None => system_roots().ok_or_else(|| target.error(ConnectHint::NoAuthorities))?,
        };
        let mut config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca));
        if let Some(domain) = &self.domain {
            config = config.domain_name(domain);
        }
        if let Some((certificate, key)) = &self.identity {
            config = config.identity(Identity::from_pem(certificate, &key.0));
        }
        Ok(config)
    }
}

fn system_roots() -> Option<Vec<u8>> {
    let named = std::env::var_os(SYSTEM_ROOTS_VARIABLE).map(PathBuf::from);
    let known = SYSTEM_ROOTS.iter().map(|path| Path::new(path).to_owned());
    named.into_iter().chain(known).find_map(|path| std::fs::read(path).ok())
}

/// Puts the token on every call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    /// # Errors
    /// When the text can be no token.
    pub(crate) fn new(token: Option<&Secret>) -> Result<Bearer, Error> {
        let Some(token) = token.map(|token| token.0.trim()).filter(|token| !token.is_empty()) else {
            return Ok(Bearer(None));
        };
        let bad = |_| Error::from(Invalid::one("token", "is no token: it has letters that no token has"));
        let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse().map_err(bad)?;
        value.set_sensitive(true);
        Ok(Bearer(Some(value)))
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_a_token_is_shown_nowhere() {
        let secret = Secret("hs_secret".to_owned());
        let bearer = Bearer::new(Some(&secret)).unwrap();
        for shown in [format!("{secret:?}"), format!("{bearer:?}")] {
            assert!(!shown.contains("hs_secret"), "{shown}");
        }
        assert!(Bearer::new(Some(&Secret("a\nb".to_owned()))).is_err());
        assert!(Bearer::new(Some(&Secret(" ".to_owned()))).unwrap().0.is_none());
    }
}
