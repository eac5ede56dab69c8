#!/usr/bin/env bash
# Builds coldwave-gateway and coldwave-loadgen from bin/ (make build). FROM scratch: nothing is pulled.
# TAG (default: local) is the tag of both.
set -euo pipefail
cd "$(dirname "$0")/.."

tag=${TAG:-local}

engine() { command -v docker >/dev/null 2>&1 && timeout 20 docker info >/dev/null 2>&1; }
engine || { echo "images: no Docker engine answers here; start one, or use the binaries in bin/" >&2; exit 1; }

# Without the buildx plugin the client builds with the engine itself, which is all that a scratch image needs.
docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0

for name in gateway loadgen; do
	echo "image coldwave-$name:$tag"
	# The notice that the engine's own builder is deprecated is no news here; a failure prints everything.
	log=$(timeout 300 docker build -q -f "deploy/$name.Dockerfile" -t "coldwave-$name:$tag" . 2>&1) || { echo "$log" >&2; exit 1; }
done
