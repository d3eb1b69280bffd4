#!/usr/bin/env bash
# Shows both products on examples, offline (`make demo`). Usage: demo.sh FOLDER (recreated).
# Everything below a $ line is the real output of that command.
set -euo pipefail
examples=$(cd "$(dirname "$0")" && pwd)
folder=$1
# The demo must not spend money or write to the user's database.
unset ANTHROPIC_API_KEY OPENAI_API_KEY DATABASE_URL

heading() { printf '\n\n── %s\n' "$1"; printf '   %s\n' "${@:2}"; }
show() { printf '\n$ %s\n' "$*"; "$@"; }
# These examples are expected to exit with 1.
fails() { local code=0; show "$@" || code=$?; test "$code" -eq 1; }
# The head of a report and its checks, without the rest.
checks() { awk '/^Variance$/ { print "… (byop show latest has the rest)"; cut = 1 } !cut'; }

rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
cd "$(dirname "$folder")"

heading "1. An agent, run ten times" \
  "A single successful run shows little. This agent books a flight with three tools;" \
  "it is scripted, so no model is called. Each run is scored and recorded."
show salvo init "$(basename "$folder")"
cd "$(basename "$folder")"
fails salvo run --record

heading "2. A failure, replayed" \
  "The same agent code runs again on the recorded answers: no network, no key," \
  "no tool is executed. A failure can be examined as often as you like."
show salvo replay "$(salvo report --failures | awk 'END { print $1 }')"

heading "3. A conversation" \
  "A user who says more than one sentence, with assertions at each turn. The" \
  "agent is scripted, too, and remembers what was said."
mkdir -p conversation/agents
cp "$examples"/agents/returns_desk.py conversation/agents/
cp "$examples"/scenarios/conversation.yaml conversation/
show salvo run conversation/conversation.yaml --record
show salvo report "$(salvo report --failures | awk '$2 == "conversation" { print $1 }')"

heading "4. An AI-written legal text, checked with a playbook" \
  "The text is frozen. The evaluator judges each check three times, and a failure" \
  "must quote the text. It is the built-in one, which uses rules; with a key it" \
  "can be a model. The report is saved as the baseline of its subject."
cp "$examples"/outputs/dpa_review*.md .
show byop run dpa_review.md --subject dpa-review --save-baseline | checks

heading "5. The same review, worse" \
  "Another version of the text: certain of everything, and silent about what it" \
  "did not check."
fails byop run dpa_review_degraded.md --subject dpa-review -o report.html | checks

heading "6. What changed" \
  "The judge is the same and the text has changed, so the drift comes from the" \
  "text. The stored report can be verified, down to the votes."
show byop drift --subject dpa-review
show byop verify latest

heading "Try next, after: . .venv/bin/activate && cd $folder" \
  "report.html        the second report as one page: open it in a browser" \
  "salvo run -n 50    fix travel_agent.py first, and watch the pass rate" \
  "salvo dashboard    batches, runs and failures side by side, in a browser" \
  "byop serve         evaluate your own text in a browser" \
  "salvo models       models that you can use with a key" \
  "docs/scenarios.md and docs/playbooks.md explain how to test your own work."
