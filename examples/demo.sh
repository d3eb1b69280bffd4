#!/usr/bin/env bash
# What `make demo` shows: both products on examples, offline. Usage: demo.sh FOLDER (made anew).
# Everything below a $ line is what that command really printed.
set -euo pipefail
examples=$(cd "$(dirname "$0")" && pwd)
folder=$1
# Whoever has a key must not pay for a demonstration, nor find it in a database of theirs.
unset ANTHROPIC_API_KEY OPENAI_API_KEY DATABASE_URL

heading() { printf '\n\n── %s\n' "$1"; printf '   %s\n' "${@:2}"; }
show() { printf '\n$ %s\n' "$*"; "$@"; }
# Exit code 1 is what these examples are meant to come to; any other is a fault.
fails() { local code=0; show "$@" || code=$?; test "$code" -eq 1; }
# A report's head and its checks. The rest of it stays where it is.
checks() { awk '/^Variance$/ { print "… (byop show latest has the rest)"; cut = 1 } !cut'; }

rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
cd "$(dirname "$folder")"

heading "1. An agent, run ten times" \
  "One run that works shows little. This agent books a flight with three tools;" \
  "it is scripted, so no model is called. Each run is scored and recorded."
show salvo init "$(basename "$folder")"
cd "$(basename "$folder")"
fails salvo run --record

heading "2. A failure, replayed" \
  "The same agent code runs again on what was recorded: no network, no tool" \
  "executed, no key. A failure can be looked at as often as you like."
show salvo replay "$(salvo report --failures | awk 'END { print $1 }')"

heading "3. An AI-written legal text, checked with a playbook" \
  "The text is frozen. Each check is judged three times, and must quote its" \
  "evidence. The evaluator is the built-in one, which works by rules; with a key" \
  "it can be a model. The report is saved as the baseline of its subject."
cp "$examples"/outputs/dpa_review*.md .
show byop run dpa_review.md --subject dpa-review --save-baseline | checks

heading "4. The same review, worse" \
  "Another version of the text: sure of everything, and silent about what it did" \
  "not check."
fails byop run dpa_review_degraded.md --subject dpa-review -o report.html | checks

heading "5. What changed" \
  "The judge is the same and the text is another, so the drift is the text's." \
  "Whoever doubts the report can have it verified, down to the votes."
show byop drift --subject dpa-review
show byop verify latest

heading "Try next, after: . .venv/bin/activate && cd $folder" \
  "report.html        the second report as one page: open it in a browser" \
  "salvo run -n 50    mend travel_agent.py first, and see the pass rate move" \
  "salvo dashboard    batches, runs and failures side by side, in a browser" \
  "byop serve         evaluate a text of your own, in a browser" \
  "salvo models       what can be asked with a key" \
  "docs/scenarios.md and docs/playbooks.md say how to test what is yours."
