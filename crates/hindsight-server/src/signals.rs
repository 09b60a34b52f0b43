//! The signals that stop a server, and the one that must not.

use std::io;

/// Waits for SIGTERM or SIGINT, as often as it is asked.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Takes the signals over from the system's default, which is to kill the process.
    ///
    /// # Errors
    /// The answer of the system.
    pub(crate) fn listen() -> io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Signals {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    /// The next signal, by its name.
    pub(crate) async fn next(&mut self) -> &'static str {
        #[cfg(unix)]
        {
            tokio::select! {
                _ = self.terminate.recv() => "SIGTERM",
                _ = self.interrupt.recv() => "SIGINT",
            }
        }
        #[cfg(not(unix))]
        {
            // Where it can't be listened for, the system's default ends the process.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            "interrupt"
        }
    }
}

/// Waits for SIGHUP, which asks for files to be read anew.
pub(crate) struct Hangup {
    /// None where it can't be listened for; then it keeps the system's default.
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangup {
    /// Takes the signal over from the system's default, which is to kill the process.
    pub(crate) fn listen() -> Hangup {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Hangup { signal: signal(SignalKind::hangup()).ok() }
        }
        #[cfg(not(unix))]
        Hangup {}
    }

    /// The next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

/// Takes over the signal that a write behind the limit of a file's size (`RLIMIT_FSIZE`) brings, whose default is to kill
/// the process. The write answers with an error then, as on a full disk.
///
/// # Errors
/// The answer of the system.
pub(crate) fn ignore_file_size_limit() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use tokio::signal::unix::{SignalKind, signal};
        const SIGXFSZ: i32 = 25;
        // What was taken over stays so when the listener goes.
        drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    }
    Ok(())
}
