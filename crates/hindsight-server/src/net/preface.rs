//! What a gRPC client says first. It has a time limit, since hyper waits for it without one, and it tells a client
//! that speaks HTTP/1 that it has the wrong port.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

/// The first bytes of every HTTP/2 connection (RFC 9113, 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The answer to HTTP/1, in HTTP/1.
const WRONG_PORT: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n\
    This port speaks gRPC (HTTP/2). JSON over HTTP is on the other port, 7421 unless configured otherwise.\n";

/// A connection whose first bytes were read already and are read again.
pub(super) struct Rewound<S> {
    read: usize,
    stream: S,
}

/// Reads the preface; `None` when it is another protocol, which is told so.
///
/// # Errors
/// When the connection ends or fails before.
pub(super) async fn read<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) -> io::Result<Option<Rewound<S>>> {
    let mut first = [0; PREFACE.len()];
    // One byte is enough to tell HTTP/2 from HTTP/1, whose requests may be shorter than the preface: "P" alone may be
    // PRI, POST, PUT or PATCH, so the second letter decides.
    stream.read_exact(&mut first[..2]).await?;
    if first[..2] == PREFACE[..2] {
        stream.read_exact(&mut first[2..]).await?;
        if first == *PREFACE {
            return Ok(Some(Rewound { read: 0, stream }));
        }
    }
    if first[..2].iter().all(u8::is_ascii_uppercase) {
        stream.write_all(WRONG_PORT.as_bytes()).await?;
        stream.shutdown().await?;
    }
    Ok(None)
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewound<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = PREFACE.get(self.read..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..count).unwrap_or_default());
        self.read += count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewound<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
