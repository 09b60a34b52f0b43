//! The standard health service: serving while the log takes writes and the server is not stopping.

use std::{sync::Arc, time::Duration};

use hindsight_proto::v1::{
    admin_service_server::AdminServiceServer, memory_service_server::MemoryServiceServer,
    namespace_service_server::NamespaceServiceServer, session_service_server::SessionServiceServer,
    watch_service_server::WatchServiceServer,
};
use tokio::sync::watch;
use tonic::server::NamedService;
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{app::App, net::Phase};

/// How often the log is asked whether it takes writes.
const PERIOD: Duration = Duration::from_secs(1);

/// The names a client may ask for: everything, and each service.
const NAMES: [&str; 6] = [
    "",
    MemoryServiceServer::<()>::NAME,
    NamespaceServiceServer::<()>::NAME,
    AdminServiceServer::<()>::NAME,
    SessionServiceServer::<()>::NAME,
    WatchServiceServer::<()>::NAME,
];

/// Says that everything serves, or that nothing does.
pub(crate) async fn report(reporter: &HealthReporter, serving: bool) {
    let status = if serving { ServingStatus::Serving } else { ServingStatus::NotServing };
    for name in NAMES {
        reporter.set_service_status(name, status).await;
    }
}

/// Keeps the report true until the server stops.
pub(crate) async fn watch(app: Arc<App>, reporter: HealthReporter, mut phase: watch::Receiver<Phase>) {
    let mut served = true;
    loop {
        let stopping = phase.wait_for(|phase| *phase >= Phase::Draining);
        let stops = tokio::time::timeout(PERIOD, stopping).await.is_ok();
        if stops {
            report(&reporter, false).await;
            return;
        }
        let serving = match app.health() {
            Ok(()) => true,
            Err(error) => {
                if served {
                    tracing::error!(error = &error as &dyn std::error::Error, "the database takes no writes");
                }
                false
            }
        };
        if serving != served {
            report(&reporter, serving).await;
            served = serving;
        }
    }
}
