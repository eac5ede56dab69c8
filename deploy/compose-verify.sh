#!/usr/bin/env bash
# The burst pattern through docker-compose.yml: brings the gateway and the load generator up, waits for the verdict, copies
# the report to bin/compose, and takes everything down again, whatever happened. Every wait has a limit.
#
# POLICY=fc-bound shows that it can fail: the claims speak of fc-race.
#
# Exit code: that of `loadgen verify`; 4 when the stack did not come up. Where no Docker engine runs it says so and exits 0.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly healthy_limit=60 # seconds until the gateway answers
readonly run_limit=330    # seconds for the pattern (70 s), twice again when the host is busy, and the report
readonly out=bin/compose

skip() { echo "compose-verify: skipped: $1"; exit 0; }

command -v docker >/dev/null 2>&1 || skip "no Docker engine (no docker command on PATH)"
timeout 20 docker info >/dev/null 2>&1 || skip "no Docker engine (docker info fails: none running, or no right to use it)"
if docker compose version >/dev/null 2>&1; then
	tool=(docker compose)
elif command -v docker-compose >/dev/null 2>&1; then
	tool=(docker-compose)
else
	skip "no Docker Compose (neither docker compose nor docker-compose)"
fi

deploy/images.sh

# The load generator asks the gateway's admin port from another container; the token is made for this run alone. The file must
# be readable for the container's user, so its directory keeps others out.
secret=$(mktemp -d)
COLDWAVE_ADMIN_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
COLDWAVE_ADMIN_TOKEN_FILE=$secret/token
export COLDWAVE_ADMIN_TOKEN COLDWAVE_ADMIN_TOKEN_FILE
echo "$COLDWAVE_ADMIN_TOKEN" >"$COLDWAVE_ADMIN_TOKEN_FILE"
chmod 0644 "$COLDWAVE_ADMIN_TOKEN_FILE"

project=coldwave-verify-$$
compose=("${tool[@]}" --project-name "$project" --file docker-compose.yml)

down() {
	local code=$?
	trap - EXIT INT TERM
	if [ "$code" -ne 0 ]; then
		echo "compose-verify: exit $code; the last lines of both services:" >&2
		timeout 20 "${compose[@]}" logs --no-color --tail 40 >&2 || true
	fi
	timeout 90 "${compose[@]}" down --volumes --timeout 10 >/dev/null 2>&1 ||
		echo "compose-verify: down failed; look for containers of project $project" >&2
	rm -rf "$secret"
	exit "$code"
}

# fail CODE MESSAGE
fail() { echo "compose-verify: $2" >&2; exit "$1"; }

# state FORMAT CONTAINER: one field of the container, or nothing when it is gone.
state() { timeout 10 docker inspect --format "$1" "$2" 2>/dev/null || true; }

# start SERVICE: its messages are shown only when it fails.
start() {
	local log
	log=$(timeout 90 "${compose[@]}" up --no-build -d "$1" 2>&1) || { echo "$log" >&2; fail 4 "the container of $1 does not start"; }
}

await_healthy() {
	local id=$1 began=$SECONDS
	while [ "$(state '{{.State.Health.Status}}' "$id")" != healthy ]; do
		[ "$(state '{{.State.Running}}' "$id")" = true ] || fail 4 "the gateway ended before it was healthy"
		[ $((SECONDS - began)) -lt "$healthy_limit" ] || fail 4 "the gateway is not healthy after $healthy_limit s"
		sleep 0.5
	done
	echo "compose-verify: gateway healthy after $((SECONDS - began)) s"
}

trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "compose-verify: up (${tool[*]}, project $project)"
start gateway
await_healthy "$(timeout 20 "${compose[@]}" ps -q gateway)"

start loadgen
loadgen=$(timeout 20 "${compose[@]}" ps -q loadgen)
[ -n "$loadgen" ] || fail 4 "the load generator has no container"

timeout "$run_limit" docker logs --follow "$loadgen" || fail 4 "the run is not over after $run_limit s"
code=$(timeout 20 docker wait "$loadgen") || fail 4 "the load generator did not end"

rm -rf "$out"
mkdir -p "$out"
timeout 30 docker cp "$loadgen:/runs/." "$out" >/dev/null || fail 5 "no report could be copied from the load generator"
report=$(find "$out" -name report.html | head -n 1)
[ -n "$report" ] || [ "$code" -ne 0 ] || fail 5 "the load generator wrote no report"

echo "compose-verify: loadgen exit $code, report ${report:-none}"
exit "$code"
