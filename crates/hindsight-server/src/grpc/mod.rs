//! gRPC: the services of `hindsight.v1`, health and reflection.
//!
//! A method is convert, call, convert; it decides nothing. Reading order: `memory`, `rules`, `namespace`, `admin`, `access`, `session`, `watch`, `status`
//! (what a caller is told when a call fails), `message` (what never reaches a method), `health`.

mod access;
mod admin;
pub(crate) mod health;
mod memory;
mod message;
mod namespace;
mod purge;
mod rules;
mod session;
pub(crate) mod status;
mod watch;

use std::sync::Arc;

use axum::{Router, middleware::from_fn_with_state};
use hindsight_proto::{
    DESCRIPTOR_SET,
    v1::{
        admin_service_server::AdminServiceServer, memory_service_server::MemoryServiceServer,
        namespace_service_server::NamespaceServiceServer, rule_service_server::RuleServiceServer,
        session_service_server::SessionServiceServer, watch_service_server::WatchServiceServer,
    },
};
use tonic::service::Routes;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tonic_reflection::server::{Builder, Error as ReflectionError};

use crate::{
    access::{Access, grpc as door},
    app::App,
    config::Limits,
    net::{Guard, guard::guard},
};

/// Everything that answers on the gRPC port.
///
/// # Errors
/// When the descriptors that the build put in can't be read.
pub(crate) fn router(
    app: &Arc<App>,
    access: &Arc<Access>,
    reporter: HealthReporter,
    limits: &Limits,
    call_guard: Guard,
) -> Result<Router, ReflectionError> {
    let (read_max, write_max) = (limits.message_bytes, limits.reply_bytes);
    let memory = MemoryServiceServer::new(memory::Memories(Arc::clone(app)))
        .max_decoding_message_size(read_max)
        .max_encoding_message_size(write_max);
    let namespace = NamespaceServiceServer::new(namespace::Namespaces(Arc::clone(app)))
        .max_decoding_message_size(read_max)
        .max_encoding_message_size(write_max);
    let admin = AdminServiceServer::new(admin::Admin { app: Arc::clone(app), access: Arc::clone(access) })
        .max_decoding_message_size(read_max)
        .max_encoding_message_size(write_max);
    let rules = RuleServiceServer::new(rules::Rules(Arc::clone(app)))
        .max_decoding_message_size(read_max)
        .max_encoding_message_size(write_max);
    let session = SessionServiceServer::new(session::Sessions(Arc::clone(app)))
        .max_decoding_message_size(read_max)
        .max_encoding_message_size(write_max);
    let watch = WatchServiceServer::new(watch::Watches(Arc::clone(app)))
        .max_decoding_message_size(read_max)
        .max_encoding_message_size(write_max);
    let describe = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let reading = message::Reading { limit: read_max, budget: app.budget().clone() };
    // grpcurl and others still ask for v1alpha.
    let routes = Routes::new(memory)
        .add_service(namespace)
        .add_service(admin)
        .add_service(rules)
        .add_service(session)
        .add_service(watch)
        .add_service(HealthServer::new(HealthService::from_health_reporter(reporter)))
        .add_service(describe().build_v1()?)
        .add_service(describe().build_v1alpha()?);
    Ok(routes
        .into_axum_router()
        .layer(from_fn_with_state(read_max, door::enter))
        .layer(from_fn_with_state(reading, message::check))
        .layer(from_fn_with_state(Arc::clone(access), door::admit))
        .layer(from_fn_with_state(call_guard, guard)))
}
