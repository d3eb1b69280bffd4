#!/usr/bin/env bash
# What action.yml runs. The inputs are variables, and only ever words: nothing in them is read by a shell.
set -euo pipefail

usage() {
  echo "::error title=Salvo::$1"
  exit 2
}

for input in SALVO_KIND SALVO_PATH SALVO_RUNS SALVO_WORKING_DIRECTORY; do
  # A line break could write an output or a command of its own.
  [[ ${!input} != *[[:cntrl:]]* ]] || usage "$input holds a line break or another control character."
done

reports=$(mktemp -d "${RUNNER_TEMP:-/tmp}/salvo-XXXXXX")
case $SALVO_KIND in
  scenarios) command=(salvo run) title="Scenarios" ;;
  playbook) command=(byop run -o "$reports/report.html") title="Playbook" ;;
  *) usage "kind is scenarios or playbook." ;;
esac
command+=(-o "$reports/report.xml" -o "$reports/report.md" -o "$reports/report.json")
[[ -z $SALVO_RUNS ]] || command+=("--runs=$SALVO_RUNS")
while IFS= read -r argument || [[ -n $argument ]]; do
  argument=${argument%$'\r'}
  [[ -z $argument ]] || command+=("$argument")
done <<<"$SALVO_ARGUMENTS"
# Whatever it begins with, it is a path.
[[ -z $SALVO_PATH ]] || command+=(-- "$SALVO_PATH")
cd -- "$SALVO_WORKING_DIRECTORY" || usage "There is no such working directory."

# What an agent says is in the log as well, and must not be taken for a command of the workflow.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
code=0
"${command[@]}" </dev/null || code=$?
echo "::$token::"

case $code in
  0) verdict=passed ;;
  1) verdict=failed ;;
  2) verdict=usage ;;
  4) verdict=inconclusive ;;
  5) verdict=nothing ;;
  130) verdict=interrupted ;;
  *) verdict=error ;;
esac

# Several evaluators write a file each.
shopt -s nullglob
first() { if (($#)); then echo "$1"; fi; }
written=("$reports"/report*.md)
{
  echo "## $title: $verdict"
  echo
  if ((${#written[@]} == 0)); then
    echo "The command ended with exit code $code before it had anything to report. Its log says why."
  elif (($(cat "${written[@]}" | wc -c) > 1000000)); then # GitHub takes 1 MiB, or nothing
    echo "The report is too long to be shown here. It is in the folder that the output \`reports\` names."
  else
    cat "${written[@]}"
  fi
} >>"$GITHUB_STEP_SUMMARY"

{
  echo "verdict=$verdict"
  echo "exit-code=$code"
  echo "reports=$reports"
  echo "junit=$(first "$reports"/report*.xml)"
  echo "summary=$(first "${written[@]}")"
  echo "json=$(first "$reports"/report*.json)"
} >>"$GITHUB_OUTPUT"

if [[ $code == 4 && $SALVO_FAIL_ON_INCONCLUSIVE != true ]]; then
  echo "::warning title=Salvo::The runs cannot show it with the confidence asked for. The step passes, as it was told to."
  exit 0
fi
[[ $code == 0 ]] || echo "::error title=Salvo::The verdict is \"$verdict\" (exit code $code). The summary and the log say why."
exit "$code"
