# syntax=docker/dockerfile:1
# HindsightDB in a container: one program on a base without shell or package manager, as a user without rights.
#
#   docker build -t hindsight .
#   docker run --rm --network host -v hindsight-data:/data hindsight
#   docker exec <container> /hindsight recall --namespace demo "what failed before?"
#
# IMPORTANT: the server listens on loopback only. It has no credentials, and without them no one beyond its own
# machine may reach it; inside a container that is the container itself. So publishing ports (`-p 7420:7420`) gives
# nothing: run it with `--network host`, or share its network (`--network container:<name>`), or `docker exec` into it.

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
# The server stops taking requests, finishes those it has, syncs its log and exits with 0.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["/hindsight", "health", "--timeout", "2s"]
ENTRYPOINT ["/hindsight"]
CMD ["serve", "--data", "/data"]
