//! TLS (1.3) of both ports: certificates from files, read anew on SIGHUP; a connection keeps those that it began with.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::rustls::{
    self, RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
    version::TLS13,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::Front;
use crate::config::TlsFiles;

/// Why certificates can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file can't be read as what it should be.
    #[error("tls.{key}: {} holds no {what}: {problem}", path.display())]
    File {
        /// The key of the configuration.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// One key of the configuration is set without another.
    #[error("tls.{key} is missing: certificate and key belong together")]
    Half {
        /// The key that is not set.
        key: &'static str,
    },
    /// They can't be used together.
    #[error("tls.cert and tls.key can't be used: {0}")]
    Unusable(String),
}

/// The certificates of a server.
pub(crate) struct Tls {
    files: TlsFiles,
    /// For gRPC, for HTTP: each offers the protocol that its port speaks.
    configs: RwLock<[Arc<ServerConfig>; 2]>,
}

impl Tls {
    /// Reads the files; none when no certificate is named.
    ///
    /// # Errors
    /// [`TlsError`].
    pub(crate) fn load(files: &TlsFiles) -> Result<Option<Arc<Tls>>, TlsError> {
        let (cert, key) = (is_set(&files.cert), is_set(&files.key));
        match (cert, key) {
            (false, false) if is_set(&files.client_ca) => Err(TlsError::Half { key: "cert" }),
            (false, false) => Ok(None),
            (true, false) => Err(TlsError::Half { key: "key" }),
            (false, true) => Err(TlsError::Half { key: "cert" }),
            (true, true) => {
                let configs = RwLock::new(read(files)?);
                Ok(Some(Arc::new(Tls { files: files.clone(), configs })))
            }
        }
    }

    /// Reads the files anew, for the connections to come.
    ///
    /// # Errors
    /// [`TlsError`]; then the certificates of before stay.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let configs = read(&self.files)?;
        *self.configs.write().unwrap_or_else(PoisonError::into_inner) = configs;
        Ok(())
    }

    /// Agrees on keys with a client.
    ///
    /// # Errors
    /// When the client speaks no TLS, shows no certificate that is needed, or goes away.
    pub(super) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        front: Front,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        let config = {
            let configs = self.configs.read().unwrap_or_else(PoisonError::into_inner);
            let [grpc, http] = &*configs;
            Arc::clone(if front == Front::Grpc { grpc } else { http })
        };
        TlsAcceptor::from(config).accept(stream).await
    }
}

fn is_set(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}

fn read(files: &TlsFiles) -> Result<[Arc<ServerConfig>; 2], TlsError> {
    let chain = certificates("cert", &files.cert)?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| bad("key", &files.key, "private key in PEM", &error))?;
    let unusable = |error: rustls::Error| TlsError::Unusable(error.to_string());
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(unusable)?;
    let builder = if is_set(&files.client_ca) {
        let mut roots = RootCertStore::empty();
        for certificate in certificates("client_ca", &files.client_ca)? {
            roots.add(certificate).map_err(unusable)?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| TlsError::Unusable(error.to_string()))?;
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let config = builder.with_single_cert(chain, key).map_err(unusable)?;
    let speaking = |protocol: &[u8]| {
        let mut config = config.clone();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    };
    Ok([speaking(b"h2"), speaking(b"http/1.1")])
}

fn certificates(key: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let refuse = |problem: &dyn std::fmt::Display| bad(key, path, "certificate in PEM", problem);
    let found = CertificateDer::pem_file_iter(path).map_err(|error| refuse(&error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| refuse(&error))?;
    if found.is_empty() { Err(refuse(&"there is none in it")) } else { Ok(found) }
}

fn bad(key: &'static str, path: &Path, what: &'static str, problem: &dyn std::fmt::Display) -> TlsError {
    TlsError::File { key, path: path.to_owned(), what, problem: problem.to_string() }
}
