//! gRPC calls by name, with messages as bytes.

use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_types::StatusExt as _;

/// Messages as they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Bytes;
    type Decoder = Bytes;

    fn encoder(&mut self) -> Bytes {
        Bytes
    }

    fn decoder(&mut self) -> Bytes {
        Bytes
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes::BufMut::put_slice(buffer, &item);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let length = bytes::Buf::remaining(buffer);
        Ok(Some(bytes::Buf::copy_to_bytes(buffer, length).to_vec()))
    }
}

/// A request with a token.
pub(crate) fn request<T>(token: Option<&str>, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    request
}

/// What became of a call: the reason of its refusal, or `OK`.
pub(crate) async fn outcome(
    channel: &Channel,
    rpc: &str,
    token: Option<&str>,
    message: Vec<u8>,
    streaming: bool,
) -> String {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let path = format!("/hindsight.v1.{rpc}").parse().unwrap();
    let request = request(token, message);
    let status = if streaming {
        match grpc.server_streaming(request, path, Bytes).await {
            Ok(answer) => answer.into_inner().message().await.err(),
            Err(status) => Some(status),
        }
    } else {
        grpc.unary(request, path, Bytes).await.err()
    };
    match status {
        None => "OK".to_owned(),
        Some(status) => {
            let details = status.get_error_details();
            let reason = details.error_info().map(|info| info.reason.clone());
            reason.unwrap_or_else(|| format!("{:?}: {}", status.code(), status.message()))
        }
    }
}
