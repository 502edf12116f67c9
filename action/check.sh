#!/usr/bin/env bash
# Runs a suite against the base of a pull request or push; what it needs stands in the environment (action.yml).
set -euo pipefail
work="${RUNNER_TEMP:-$(mktemp -d)}/dataworth"
mkdir -p "$work"
words=(--suite "$SUITE" --markdown "$work/comment.md" --junit "$work/junit.xml" --reports "$work/reports")
if test -n "${BASE//0/}"; then # a push to a new branch comes from 0000…
  git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE"
  words+=(--base "$BASE")
fi
test "$ROWS" = true || words+=(--no-rows)
code=0
dataworth check "${words[@]}" || code=$?
if test -s "$work/comment.md"; then
  outcome=error
  test "$code" != 0 || outcome=passed
  test "$code" != 1 || outcome=failed
  { echo "outcome=$outcome"; echo "report=$work"; } >>"${GITHUB_OUTPUT:-/dev/null}"
  cat "$work/comment.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
exit "$code"
