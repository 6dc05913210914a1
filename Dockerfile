# The binary links to the C library of the image that builds it, so both images
# must be of one Debian release. They are arguments: a mirror, or images made
# by hand (scripts/docker-local), work as well. The default target has the
# embedding model inside; --target slim does without, --target full has git as
# well. No step after the module download needs the network, but git's and, where
# make assets has not filled build/assets, that of the model. None needs BuildKit.
ARG BUILD_IMAGE=golang:1.26-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
# Where modules come from, for networks with a proxy of their own. Unset, Go's
# defaults hold.
ARG GOPROXY
ARG GOSUMDB
ARG GOFLAGS
WORKDIR /src
# SQLite takes most of the build and changes with go.mod only: a layer of its own.
COPY go.mod go.sum Makefile ./
RUN go mod download && make libraries
COPY . .
ARG VERSION=dev
RUN make build \
 && mkdir -p /rootfs/usr/local/bin /rootfs/usr/share/klawbot /rootfs/etc/ssl/certs /rootfs/data \
 && cp bin/klawbot /rootfs/usr/local/bin/ \
 && cp /etc/ssl/certs/ca-certificates.crt /rootfs/etc/ssl/certs/ \
 && cp "$(go env GOROOT)/lib/time/zoneinfo.zip" /rootfs/usr/share/klawbot/ \
 && chmod 1777 /rootfs/data

# What semantic search needs: out of build/assets, else from where it is
# published, checked by its hashes either way.
FROM build AS assets
RUN from=; [ ! -e build/assets/e5-small-v2/model.onnx ] || from="--from build/assets"; \
    KLAWBOT_HOME=/with-assets/usr/share/klawbot bin/klawbot assets pull $from && chmod -R a+rX /with-assets

# No RUN in it: the runtime image needs neither a shell nor a package manager.
FROM ${RUNTIME_IMAGE} AS slim
ARG VERSION=dev
LABEL org.opencontainers.image.title="klawbot" \
      org.opencontainers.image.description="A self-hosted assistant that people talk to in Telegram." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /rootfs/ /
# One folder holds all that is kept: configuration, database, workspace. It is
# open like /tmp (1777), so that `docker run --user` works with any user id; the
# files in it are still their user's own.
ENV HOME=/data \
    container=docker \
    KLAWBOT_HOME=/data \
    ZONEINFO=/usr/share/klawbot/zoneinfo.zip
WORKDIR /data
VOLUME /data
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 CMD ["klawbot", "health"]
ENTRYPOINT ["klawbot"]
CMD ["run"]

FROM slim AS standard
COPY --from=assets /with-assets/ /

# What tools can use beyond the program itself. A runtime image that has git
# needs no network here.
FROM standard AS full
USER root
RUN command -v git >/dev/null \
 || { apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log; }
USER 65532:65532

# The default: what stands last.
FROM standard
