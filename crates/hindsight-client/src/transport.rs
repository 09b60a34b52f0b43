//! How a call is sent: with a deadline, again while the server is unavailable, and with the reason when nobody answers.

use std::time::Duration;

use backon::Retryable as _;
use hindsight_proto::v1::admin_service_client::AdminServiceClient;
use hindsight_proto::v1::memory_service_client::MemoryServiceClient;
use hindsight_proto::v1::namespace_service_client::NamespaceServiceClient;
use hindsight_proto::v1::rule_service_client::RuleServiceClient;
use hindsight_proto::v1::session_service_client::SessionServiceClient;
use hindsight_proto::v1::watch_service_client::WatchServiceClient;
use tokio::time::Instant;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

use crate::connect::{ConnectHint, Target};
use crate::locks::Bearer;
use crate::retry::Retry;
use crate::status::Failure;
use crate::{ClientBuilder, Error};

/// How one call is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    timeout: Duration,
    /// Whether doing it twice does no harm: it only reads, or it carries a request id.
    repeatable: bool,
}

impl How {
    /// A call that changes nothing.
    pub(crate) const fn read(timeout: Duration) -> How {
        How { timeout, repeatable: true }
    }

    /// A call that changes something, once however often it arrives when it carries a request id.
    pub(crate) const fn mutation(timeout: Duration, request_id: Option<&String>) -> How {
        How { timeout, repeatable: request_id.is_some() }
    }
}

/// The connection with its token.
pub(crate) type Wire = InterceptedService<Channel, Bearer>;

/// The connection to a server.
#[derive(Debug)]
pub(crate) struct Transport {
    channel: Channel,
    bearer: Bearer,
    /// Watches have a connection of their own: one that is not read must not hold up other calls.
    watch_channel: Channel,
    target: Target,
    retry: Retry,
    sent_bytes_max: usize,
    received_bytes_max: usize,
}

impl Transport {
    pub(crate) fn new(target: Target, settings: &ClientBuilder) -> Result<Transport, Error> {
        // The channel starts a task; without a runtime that would panic.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(target.error(ConnectHint::NoRuntime));
        }
        let agent = concat!("hindsight-client/", env!("CARGO_PKG_VERSION"));
        let endpoint = Endpoint::from_shared(target.uri()).and_then(|endpoint| endpoint.user_agent(agent));
        let endpoint = endpoint.map_err(|_| target.error(ConnectHint::BadUrl))?;
        let mut endpoint = endpoint;
        if target.encrypted() {
            let config = settings.tls.config(&target)?;
            endpoint = endpoint.tls_config(config).map_err(|_| target.error(ConnectHint::BadCertificate))?;
        }
        let endpoint = endpoint
            .connect_timeout(settings.connect_timeout)
            .http2_keep_alive_interval(settings.keepalive_interval)
            .keep_alive_timeout(settings.keepalive_timeout)
            .keep_alive_while_idle(true)
            .tcp_keepalive(Some(settings.tcp_keepalive));
        Ok(Transport {
            bearer: Bearer::new(settings.token.as_ref())?,
            channel: endpoint.connect_lazy(),
            watch_channel: endpoint.connect_lazy(),
            target,
            retry: settings.retry.clone(),
            sent_bytes_max: settings.sent_bytes_max,
            received_bytes_max: settings.received_bytes_max,
        })
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// The connection, for the generated clients.
    fn wire(&self) -> Wire {
        InterceptedService::new(self.channel.clone(), self.bearer.clone())
    }

    pub(crate) fn memories(&self) -> MemoryServiceClient<Wire> {
        MemoryServiceClient::new(self.wire()).max_decoding_message_size(self.received_bytes_max)
    }

    pub(crate) fn namespaces(&self) -> NamespaceServiceClient<Wire> {
        NamespaceServiceClient::new(self.wire()).max_decoding_message_size(self.received_bytes_max)
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Wire> {
        SessionServiceClient::new(self.wire()).max_decoding_message_size(self.received_bytes_max)
    }

    pub(crate) fn watches(&self) -> WatchServiceClient<Wire> {
        let wire = InterceptedService::new(self.watch_channel.clone(), self.bearer.clone());
        WatchServiceClient::new(wire).max_decoding_message_size(self.received_bytes_max)
    }

    pub(crate) fn admin(&self) -> AdminServiceClient<Wire> {
        AdminServiceClient::new(self.wire()).max_decoding_message_size(self.received_bytes_max)
    }

    pub(crate) fn rules(&self) -> RuleServiceClient<Channel> {
        RuleServiceClient::new(self.channel.clone()).max_decoding_message_size(self.received_bytes_max)
    }

    /// The transport would break the connection over a message that is too large, and say nothing of use.
    fn check_size(&self, bytes: usize) -> Result<(), Error> {
        let most = self.sent_bytes_max;
        if bytes <= most {
            return Ok(());
        }
        Err(Error::Invalid {
            reason: "CONTENT_TOO_LARGE".to_owned(),
            message: format!(
                "the request has {bytes} bytes, and at most {most} can be sent: send less at once"
            ),
            violations: Vec::new(),
        })
    }

    /// Makes one call. Every attempt carries the same message, and what is left of the deadline.
    pub(crate) async fn call<Q, A, F>(
        &self,
        how: How,
        message: Q,
        send: impl Fn(Request<Q>) -> F,
    ) -> Result<A, Error>
    where
        Q: Clone + prost::Message,
        F: Future<Output = Result<Response<A>, Status>>,
    {
        self.check_size(message.encoded_len())?;
        let How { timeout, repeatable } = how;
        let deadline = Instant::now() + timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let attempt = || {
            let mut request = Request::new(message.clone());
            request.set_timeout(left());
            let answer = tokio::time::timeout_at(deadline, send(request));
            async move {
                match answer.await {
                    Ok(answer) => {
                        answer.map(Response::into_inner).map_err(|status| Failure::of(&status, timeout))
                    }
                    Err(_) => Err(Failure { error: Error::Deadline { timeout }, unanswered: false }),
                }
            }
        };
        let retry = if repeatable { self.retry.clone() } else { self.retry.once() };
        let answer = attempt
            .retry(retry.pauses())
            .when(|failure: &Failure| failure.error.is_retryable())
            .adjust(|failure, pause| {
                let pause = pause?.max(failure.error.retry_after().unwrap_or_default());
                (pause < left()).then_some(pause)
            })
            .await;
        match answer {
            Ok(answer) => Ok(answer),
            Err(failure) if failure.unanswered => Err(self.target.explain().await.unwrap_or(failure.error)),
            Err(failure) => Err(failure.error),
        }
    }
}
