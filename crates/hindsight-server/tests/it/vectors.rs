//! Vectors of the client's own: taken as they are, and only of one model.

use hindsight_client::{Error, Mode, RawVector, RawVectors, VectorRole, WriteOptions};
use serde_json::json;

use crate::support::{TestServer, draft};

fn vectors(model: &str, values: &[f32]) -> Option<RawVectors> {
    let vector = RawVector { role: VectorRole::Content, values: values.to_vec() };
    Some(RawVectors { model: model.to_owned(), vectors: vec![vector] })
}

async fn write(server: &TestServer, content: &str, vectors: Option<RawVectors>) -> Result<(), Error> {
    let ops = server.ops().await;
    ops.write_with(draft(content), vectors, WriteOptions::default()).await.map(|_| ())
}

#[tokio::test]
async fn a_vector_of_another_model_or_dimension_is_refused_with_both_names() {
    let server = TestServer::start().await;
    write(&server, "first", vectors("clip", &[1.0, 0.0, 0.0])).await.unwrap();

    let model = write(&server, "x", vectors("bge", &[1.0, 0.0, 0.0])).await.unwrap_err();
    assert_eq!((model.reason(), model.violations()[0].field.as_str()), ("MODEL_MISMATCH", "embedding_model"));
    assert!(model.to_string().contains("\"clip\"") && model.to_string().contains("\"bge\""), "{model}");
    let dimension = write(&server, "x", vectors("clip", &[1.0, 0.0])).await.unwrap_err();
    assert_eq!(
        (dimension.reason(), dimension.violations()[0].field.as_str()),
        ("DIMENSION_MISMATCH", "vectors")
    );
    let query = server.ops().await.recall("").vector(&[1.0, 0.0], "clip").send().await.unwrap_err();
    assert_eq!((query.reason(), query.violations()[0].field.as_str()), ("DIMENSION_MISMATCH", "vector"));

    let body = json!({"namespace": "ops", "content": "x", "embedding_model": "bge",
        "vectors": [{"role": "content", "values": [1, 0, 0]}]});
    let answer = server.http("POST", "/memory/write", body).await;
    assert_eq!((answer.status, answer.fields()), (400, vec!["embedding_model"]), "{answer:?}");
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains("\"clip\"") && detail.contains("\"bge\""), "{detail}");
    let search = json!({"namespace": "ops", "vector": [1, 0, 0], "embedding_model": "bge"});
    let answer = server.http("POST", "/memory/search", search).await;
    assert_eq!((answer.status, answer.fields()), (400, vec!["embedding_model"]));
    assert_eq!(server.contents().await, ["first"]);
}

#[tokio::test]
async fn a_namespace_of_a_foreign_model_is_served_by_keywords_unless_vectors_come() {
    let server = TestServer::start().await;
    write(&server, "a picture of a cat", vectors("clip", &[1.0, 0.0, 0.0])).await.unwrap();
    // A text without a vector is stored: the server's own model would not fit.
    write(&server, "a dog that barks", None).await.unwrap();
    let ops = server.ops().await;
    let hits = ops.recall("barks").send().await.unwrap().hits;
    assert_eq!(hits[0].memory.content, "a dog that barks");
    assert_eq!(hits[0].memory.embedding_model, None);
    assert!(hits[0].breakdown.parts.iter().all(|part| part.name != "vector"));
    let refused = ops.recall("cat").mode(Mode::Vector).send().await.unwrap_err();
    assert_eq!((refused.reason(), refused.violations()[0].field.as_str()), ("MODEL_MISMATCH", "vector"));
    assert!(refused.to_string().contains("\"clip\""), "{refused}");
    let hits = ops.recall("").vector(&[0.9, 0.1, 0.0], "clip").mode(Mode::Vector).send().await.unwrap().hits;
    assert_eq!(hits[0].memory.content, "a picture of a cat");
}

#[tokio::test]
async fn short_texts_need_no_vector_when_so_configured() {
    let server = TestServer::with(|config| config.embedding.min_chars = 10).await;
    let ops = server.ops().await;
    let short = ops.write(draft("短句")).await.unwrap().memory;
    let long = ops.write(draft("一句比十个字还要长的话")).await.unwrap().memory;
    assert_eq!((short.embedding_model.is_some(), long.embedding_model.is_some()), (false, true));
    assert_eq!(ops.recall("短句").send().await.unwrap().hits[0].memory.id, short.id);
}
