//! Keeps the credentials in memory true to their file, and writes down when each was used.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::admit::Access;
use crate::net::{Phase, Tls};

/// How often the file is looked at: who takes a token back on the command line waits no longer.
const PERIOD: Duration = Duration::from_millis(500);
/// How often it is written down when credentials were used.
const USED_PERIOD: Duration = Duration::from_secs(60);

/// Runs until the server stops. SIGHUP has the credentials and the certificates read anew.
pub(crate) async fn keep(access: Arc<Access>, tls: Option<Arc<Tls>>, mut phase: watch::Receiver<Phase>) {
    let mut stamp = access.store().stamp();
    let mut written = Instant::now();
    let mut hangup = crate::signals::Hangup::listen();
    loop {
        // An error means that the server itself is gone.
        let stopping = async { phase.wait_for(|phase| *phase >= Phase::Draining).await.is_ok() };
        let stops = tokio::select! {
            _ = stopping => true,
            () = tokio::time::sleep(PERIOD) => false,
            () = hangup.next() => {
                renew(&access, tls.as_deref()).await;
                stamp = access.store().stamp();
                false
            }
        };
        let seen = access.store().stamp();
        if seen != stamp {
            stamp = seen;
            reload(&access).await;
        }
        if stops || written.elapsed() >= USED_PERIOD {
            written = Instant::now();
            note_used(&access).await;
            // Our own change needs no reading: only times of use differ.
            stamp = access.store().stamp();
        }
        if stops {
            return;
        }
    }
}

async fn renew(access: &Arc<Access>, tls: Option<&Tls>) {
    reload(access).await;
    match tls.map(Tls::reload) {
        None => tracing::info!("SIGHUP: the tokens were read anew"),
        Some(Ok(())) => tracing::info!("SIGHUP: the tokens and the certificates were read anew"),
        Some(Err(error)) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "SIGHUP: the certificates of before stay"
            );
        }
    }
}

async fn reload(access: &Arc<Access>) {
    let access = Arc::clone(access);
    let read = tokio::task::spawn_blocking(move || access.reload()).await;
    if let Ok(Err(error)) = read {
        tracing::error!(error = &error as &dyn std::error::Error, "the tokens of before stay");
    }
}

async fn note_used(access: &Arc<Access>) {
    let access = Arc::clone(access);
    let noted = tokio::task::spawn_blocking(move || {
        let used = std::mem::take(&mut *access.used.lock().unwrap_or_else(PoisonError::into_inner));
        let ring = access.store().load()?;
        let known = ring.credentials().any(|credential| used.contains_key(&credential.id));
        if !known {
            return Ok(());
        }
        access.store().note_used(&used)?;
        access.reload()
    })
    .await;
    if let Ok(Err(error)) = noted {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "when the tokens were used was not written down"
        );
    }
}
