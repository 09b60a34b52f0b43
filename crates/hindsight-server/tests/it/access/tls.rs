//! Both ports over TLS, with and without a certificate of the client.

use std::path::Path;

use hindsight_client::{Client, ClientBuilder, ConnectHint, Error};
use hindsight_server::{Config, Server};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use super::Locked;
use crate::support::draft;

/// An authority, and what it signed.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a name, and its key.
    fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// Puts a certificate for a name where the server reads it.
    fn put(&self, folder: &Path, name: &str) {
        let (certificate, key) = self.sign(name);
        std::fs::write(folder.join("cert.pem"), certificate).unwrap();
        std::fs::write(folder.join("key.pem"), key).unwrap();
    }
}

struct Encrypted {
    locked: Locked,
    authority: Authority,
    folder: TempDir,
}

impl Encrypted {
    async fn start(change: impl FnOnce(&mut Config, &Path)) -> Encrypted {
        let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
        authority.put(folder.path(), "memory.example");
        let (locked, ()) = Locked::with(
            |_| (),
            |config| {
                config.tls.cert = folder.path().join("cert.pem");
                config.tls.key = folder.path().join("key.pem");
                change(config, folder.path());
            },
        )
        .await;
        Encrypted { locked, authority, folder }
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}", self.locked.server.running.grpc_addr().port())
    }

    fn client(&self) -> ClientBuilder {
        ClientBuilder::new()
            .token(&self.locked.admin)
            .tls_ca(self.authority.pem())
            .tls_domain("memory.example")
    }
}

fn hint(result: Result<Client, Error>) -> ConnectHint {
    match result.unwrap_err() {
        Error::Connect { hint, .. } => hint,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s6_over_tls_a_token_is_taken_and_each_slip_is_told() {
    let server = Encrypted::start(|_, _| {}).await;
    let client = server.client().connect(&server.url("https")).await.unwrap();
    client.namespace("ops").unwrap().write(draft("encrypted 加密")).await.unwrap();

    assert_eq!(hint(server.client().connect(&server.url("http")).await), ConnectHint::NeedsTls);
    let stranger = Authority::new();
    let untrusting = server.client().tls_ca(stranger.pem()).connect(&server.url("https")).await;
    assert_eq!(hint(untrusting), ConnectHint::Certificate);
    let wrong_name = server.client().tls_domain("other.example").connect(&server.url("https")).await;
    assert_eq!(hint(wrong_name), ConnectHint::Certificate);
    let no_pem =
        server.client().tls_ca("-----BEGIN CERTIFICATE-----\n!!\n").connect(&server.url("https")).await;
    assert!(matches!(hint(no_pem), ConnectHint::BadCertificate | ConnectHint::Certificate));

    let plain = Locked::start().await;
    let url = format!("https://{}", plain.server.running.grpc_addr());
    assert_eq!(hint(server.client().connect(&url).await), ConnectHint::NoTls);
}

#[tokio::test]
async fn s6_with_mutual_tls_a_client_without_certificate_is_nobody() {
    let clients = Authority::new();
    let server = Encrypted::start(|config, folder| {
        std::fs::write(folder.join("clients.pem"), clients.pem()).unwrap();
        config.tls.client_ca = folder.join("clients.pem");
    })
    .await;
    let (certificate, key) = clients.sign("agent");
    let known = server.client().tls_identity(certificate, key);
    known.connect(&server.url("https")).await.unwrap();
    server.client().connect(&server.url("https")).await.unwrap_err();
    let (certificate, key) = Authority::new().sign("agent");
    server.client().tls_identity(certificate, key).connect(&server.url("https")).await.unwrap_err();
}

#[tokio::test]
async fn s6_certificates_that_can_not_be_used_are_told_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.put(dir.path(), "memory.example");
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    std::fs::write(dir.path().join("none.pem"), "nothing").unwrap();
    let none = dir.path().join("none.pem");
    let start = |cert: &Path, key: &Path| {
        let mut config = crate::support::config(&dir.path().join("data"));
        (config.tls.cert, config.tls.key) = (cert.to_owned(), key.to_owned());
        async move { Server::start(&config).await.err().unwrap() }
    };
    for (error, part) in [
        (start(&cert, &none).await, "tls.key"),
        (start(&none, &key).await, "tls.cert"),
        (start(&cert, Path::new("")).await, "tls.key is missing"),
        (start(Path::new(""), &key).await, "tls.cert is missing"),
        (start(&dir.path().join("absent"), &key).await, "absent"),
    ] {
        assert!(error.to_string().contains(part) && error.exit_code() == 78, "{error}");
    }
    // The key of another certificate.
    let (other, _) = authority.sign("memory.example");
    std::fs::write(&none, other).unwrap();
    assert_eq!(start(&none, &key).await.exit_code(), 78);
    assert!(!dir.path().join("data").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn s6_a_renewed_certificate_is_taken_on_sighup() {
    let server = Encrypted::start(|_, _| {}).await;
    server.client().connect(&server.url("https")).await.unwrap();
    let renewed = Authority::new();
    renewed.put(server.folder.path(), "memory.example");
    // A certificate that can't be read leaves the one of before; then the good one is taken.
    let hang_up = || {
        let status =
            std::process::Command::new("kill").args(["-HUP", &std::process::id().to_string()]).status();
        assert!(status.unwrap().success());
    };
    hang_up();
    let url = server.url("https");
    let client = || server.client().tls_ca(renewed.pem()).connect(&url);
    // A test that hangs is ended by its runner.
    while client().await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    std::fs::write(server.folder.path().join("key.pem"), "nothing").unwrap();
    hang_up();
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    client().await.unwrap();
}
