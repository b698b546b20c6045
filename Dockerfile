# syntax=docker/dockerfile:1
# Weighbridge as a container: `docker build -t weighbridge .`; docs/how-to/deploy.md says how to run it.

FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY gateway gateway
COPY policies policies
COPY scripts/constraints.txt scripts/constraints.txt
# Everything in one environment, in the versions that the tests ran with; the last stage has neither
# pip's cache nor the source.
RUN python -m venv /opt/weighbridge \
    && /opt/weighbridge/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
        --constraint scripts/constraints.txt ".[postgres]" \
    && /opt/weighbridge/bin/python -m pip uninstall --yes pip \
    && /opt/weighbridge/bin/weighbridge --version

FROM python:3.13-slim
LABEL org.opencontainers.image.title="Weighbridge" \
      org.opencontainers.image.description="An MCP tool gateway: every tool call is weighed before it crosses" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/weighbridge/weighbridge"
COPY --from=build /opt/weighbridge /opt/weighbridge
# A number, so that Kubernetes can tell that it isn't root; no home, no shell.
RUN groupadd --gid 10001 weighbridge \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin weighbridge \
    && install -d -o 10001 -g 10001 -m 0750 /var/lib/weighbridge
ENV PATH=/opt/weighbridge/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    WEIGHBRIDGE_CONFIG=/etc/weighbridge/config.yaml \
    WEIGHBRIDGE_HEALTH=http://127.0.0.1:8701/healthz
USER 10001:10001
# Relative paths of a configuration start beside it; what the gateway writes belongs here.
WORKDIR /var/lib/weighbridge
VOLUME /var/lib/weighbridge
EXPOSE 8700 8701
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as http; http.urlopen(os.environ['WEIGHBRIDGE_HEALTH'], timeout=2)"]
ENTRYPOINT ["weighbridge"]
CMD ["serve"]
