#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each: tools/fuzz.sh 10s
# `go test -fuzz` takes one target of one package at a time, so the targets are looked up in the test files.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-10s}
count=0
while IFS=: read -r file target; do
	pkg=./$(dirname "$file")
	echo "fuzz $pkg $target $time"
	go test -run '^$' -fuzz "^${target}\$" -fuzztime "$time" -timeout 60m "$pkg"
	count=$((count + 1))
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs -r grep -HoE '^func Fuzz[A-Za-z0-9_]+' | sed 's/:func /:/' | sort)

[ "$count" -gt 0 ] || { echo "fuzz: no target found" >&2; exit 1; }
echo "fuzz: $count targets"
