# syntax=docker/dockerfile:1
# HindsightDB in a container: one program on a base without shell or package manager, as a user without rights.
#
#   docker build -t hindsight .
#   docker run --rm --network host -v hindsight-data:/data hindsight
#   docker exec <container> /hindsight recall --namespace demo "what failed before?"
#
# IMPORTANT: as it stands it listens on the loopback of its own network, where it asks for no token, so publishing ports
# (`-p 7420:7420`) gives nothing. To be reached from outside it needs a token and certificates, and says so at its start:
# docs/deploy/compose.yaml has them.

ARG RUST_VERSION=1.95

# This image has the C++ compiler that the vector graph (usearch) needs.
FROM rust:${RUST_VERSION}-bookworm AS build
WORKDIR /src
COPY . .
# The caches are not part of the image, so the program is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package hindsight \
    && install -D target/release/hindsight /image/hindsight \
    && install -d -m 0700 /image/data

# Debian 12 as the stage above, so that the program meets the glibc and libstdc++ it was linked against.
FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="HindsightDB" \
      org.opencontainers.image.description="Memory database for LLM agents" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /image/hindsight /hindsight
# A new volume takes its owner and mode from this folder; 65532 is the base's user `nonroot`.
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
VOLUME /data
# gRPC, HTTP.
EXPOSE 7420 7421
# The health check asks the port of `serve` below; with TLS set HINDSIGHT_SERVER, HINDSIGHT_TLS_CA and HINDSIGHT_TOKEN_FILE too.
# The server stops taking requests, finishes those it has, syncs its log and exits with 0.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["/hindsight", "health", "--timeout", "2s"]
ENTRYPOINT ["/hindsight"]
CMD ["serve", "--data", "/data"]
