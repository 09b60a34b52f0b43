//! Health, reflection, and who answers.

use serde_json::{Value, json};
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::support::TestServer;

#[tokio::test]
async fn every_service_says_that_it_serves() {
    let server = TestServer::start().await;
    let mut health = HealthClient::new(server.channel().await);
    for service in
        ["", "hindsight.v1.MemoryService", "hindsight.v1.NamespaceService", "hindsight.v1.AdminService"]
    {
        let answer = health.check(HealthCheckRequest { service: service.into() }).await.unwrap();
        assert_eq!(answer.into_inner().status(), ServingStatus::Serving, "{service}");
    }
    let unknown = health.check(HealthCheckRequest { service: "x".into() }).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
    for path in ["/health", "/readyz", "/livez"] {
        let answer = server.http("GET", path, Value::Null).await;
        assert_eq!((answer.status, &answer.body["status"]), (200, &json!("ok")), "{path}");
        assert!(answer.head.contains("x-hindsight-request-id: req_"), "{}", answer.head);
    }
}

#[tokio::test]
async fn reflection_names_the_services_in_both_versions() {
    use tonic_reflection::pb::{v1, v1alpha};

    let server = TestServer::start().await;
    let ask = v1::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(v1::server_reflection_request::MessageRequest::ListServices(String::new())),
    };
    let mut client = v1::server_reflection_client::ServerReflectionClient::new(server.channel().await);
    let mut answers = client.server_reflection_info(tokio_stream::once(ask)).await.unwrap().into_inner();
    let answer = answers.next().await.unwrap().unwrap().message_response.unwrap();
    let v1::server_reflection_response::MessageResponse::ListServicesResponse(list) = answer else {
        panic!("{answer:?}")
    };
    let names: Vec<&str> = list.service.iter().map(|service| service.name.as_str()).collect();
    for name in ["hindsight.v1.MemoryService", "hindsight.v1.NamespaceService", "grpc.health.v1.Health"] {
        assert!(names.contains(&name), "{names:?}");
    }

    let ask = v1alpha::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(v1alpha::server_reflection_request::MessageRequest::FileContainingSymbol(
            "hindsight.v1.MemoryService".into(),
        )),
    };
    let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(server.channel().await);
    let mut answers = client.server_reflection_info(tokio_stream::once(ask)).await.unwrap().into_inner();
    let answer = answers.next().await.unwrap().unwrap().message_response.unwrap();
    assert!(matches!(
        answer,
        v1alpha::server_reflection_response::MessageResponse::FileDescriptorResponse(files)
            if !files.file_descriptor_proto.is_empty()
    ));
}

#[tokio::test]
async fn the_server_says_who_it_is() {
    let server = TestServer::start().await;
    let info = server.client().await.server_info().await.unwrap();
    assert_eq!((info.version.as_str(), info.format), (env!("CARGO_PKG_VERSION"), 1));
    let model = info.embedding_model.unwrap();
    assert!(!model.name.is_empty() && model.dimension > 100);
    let http = server.http("GET", "/info", Value::Null).await;
    assert_eq!((http.body["embedding_model"].as_str(), http.status), (Some(model.name.as_str()), 200));
}
