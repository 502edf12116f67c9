#!/usr/bin/env bash
# Audits a data file against its version on the base branch; what it needs stands in the environment (action.yml).
set -euo pipefail
work="${RUNNER_TEMP:-$(mktemp -d)}/dataworth"
mkdir -p "$work"
if test -z "$BEFORE"; then
  if test -z "$BASE"; then
    echo "dataworth: give 'before', for this is no pull request" >&2
    exit 2
  fi
  git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE"
  BEFORE="$work/before-$(basename "$DATA")"
  if ! git show "$BASE:$DATA" >"$BEFORE" 2>/dev/null; then
    echo "dataworth: $DATA is new in this pull request, so there is nothing to compare it with"
    exit 0
  fi
fi
read -r -a more <<<"$OPTIONS"
fails=()
test -z "$FAIL_ON" || fails=(--fail-on "$FAIL_ON")
code=0
dataworth audit "$BEFORE" "$DATA" --test "$TEST" "${more[@]}" "${fails[@]}" --report "$work/report.md" --report "$work/report.html" --report "$work/report.json" || code=$?
if test -s "$work/report.json"; then
  verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$work/report.json")
  { echo "verdict=$verdict"; echo "report=$work"; } >>"${GITHUB_OUTPUT:-/dev/null}"
  cat "$work/report.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
exit "$code"
