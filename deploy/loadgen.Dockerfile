# The load generator. Runs are written to /runs.
FROM scratch
COPY bin/loadgen /
COPY --chown=65532:65532 deploy/runs /runs
USER 65532:65532
WORKDIR /runs
ENTRYPOINT ["/loadgen"]
