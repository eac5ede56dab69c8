#!/usr/bin/env bash
# Rewrites the golden files of every package whose tests know the -update flag. Look at the diff afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(git ls-files -co --exclude-standard '*_test.go' | xargs -r grep -lE 'flag\.Bool\("update"' | xargs -r -n1 dirname | sort -u | sed 's|^|./|')
[ "${#packages[@]}" -gt 0 ] || { echo "golden: no package with an -update flag" >&2; exit 1; }

for pkg in "${packages[@]}"; do
	go test -count 1 -timeout 9m "$pkg" -update
done
git status --short -- '*testdata*'
