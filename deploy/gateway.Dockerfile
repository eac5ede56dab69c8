# The gateway with its fleet: each instance is a fakeworker process in the same container.
FROM scratch
COPY bin/gateway bin/fakeworker /
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/gateway"]
