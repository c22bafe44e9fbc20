# textgauge without a GPU, run as a user without rights. Models are fetched into /cache on first use: mount a volume there.
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/* \
    && pip wheel --no-cache-dir --no-deps -w /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels \
    && useradd --create-home --uid 1000 gauge && install -d -o gauge /cache /data
USER 1000
ENV TEXTGAUGE_CACHE=/cache
VOLUME /cache
WORKDIR /data
ENTRYPOINT ["textgauge"]
CMD ["--help"]
