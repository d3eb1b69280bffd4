/** What a report says, in the words that the other renderings use too. */
import type { CheckResult, DriftSummary, ModelFingerprint, RawRun, Report, Status } from "@/api/types";
import type { Fact } from "@/components/layout";
import { change, counted, money, score, seconds, time, UNKNOWN, whole } from "@/lib/format";

export const EVALUATOR_VARIANCE =
  "Variance in results may reflect evaluator model behavior, not only the AI output being tested. BYOP reports describe observable signals, not ground truth.";
export const REJECTED = "Given as quotes, but they stand nowhere in the text. They carry no weight.";
export const INCOMPLETE =
  "This report is incomplete: at least one check has fewer than a majority of valid votes. What is here stands; what is missing was not judged.";
export const TEXTS_WITHHELD = "Only fingerprints were kept: where a quote or a note stood, its hash stands.";

export const MEANINGS: Record<Status, string> = {
  ALERT: "Something grave was seen. Have it looked at before anyone relies on the text.",
  REVIEW: "Something needs a person’s review before anyone relies on the text.",
  OBSERVE: "Nothing grave was seen; some signals are worth watching.",
  STABLE: "No signal under this playbook and these inputs. That is all it says.",
};
export const MODE_LABELS = {
  full: "Auditable (variance-aware)",
  screening: "Non-auditable quick check (not comparable over time)",
};
export const UNASKED: Record<CheckResult["decided_by"], string> = {
  evaluator: "",
  patterns: "Decided by the playbook’s patterns; the evaluator was not asked.",
  derived: "Derived from the other results; the evaluator was not asked.",
};
export const AGGREGATIONS = {
  majority_vote: "a strict majority of the runs decides",
  report_all_runs: "a strict majority of the runs decides, and every run is shown",
  consensus_required: "the runs must be unanimous",
};
export const DRIFTS: Record<DriftSummary["kind"], string> = {
  none: "No drift: nothing worsened against the baseline.",
  output: "The output drifted: another text, judged by the same evaluator.",
  judge: "The judge drifted: the same text, judged by another evaluator.",
  evaluator_instability: "The evaluator is unstable: the same text and the same judge gave other results.",
  undetermined: "Text and judge both changed: which of them drifted cannot be told.",
  not_compared: "Not compared with a baseline.",
};

/** As a test suite closes: "1 failed, 3 passed, 2 indeterminate". */
export function tally(checks: readonly CheckResult[]): string {
  const words = { fail: "failed", pass: "passed", indeterminate: "indeterminate" };
  return Object.entries(words)
    .map(([result, word]) => [checks.filter((check) => check.result === result).length, word] as const)
    .filter(([count]) => count)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

/** How many of its runs voted for what the check came to, before its evidence was looked up. */
export function votes(check: CheckResult): string {
  const runs = check.raw_runs.length;
  const cast = check.raw_runs.filter(({ valid }) => valid);
  if (check.incomplete) return `${cast.length} valid of ${runs}`;
  const voted = check.raw_result ?? check.result;
  const agree = cast.filter(({ result }) => result === voted).length;
  if (2 * agree > runs) return `${agree} of ${runs}${voted === check.result ? "" : ` for ${voted}`}`;
  const split = (["pass", "fail", "indeterminate"] as const)
    .map((result) => [cast.filter((run) => run.result === result).length, result] as const)
    .filter(([count]) => count);
  return `split: ${split.map(([count, result]) => `${count} ${result}`).join(", ")}`;
}

export function checkFacts(check: CheckResult): Fact[] {
  const severity = { name: "Severity", value: check.severity };
  if (!check.raw_runs.length) return [severity];
  const alone = check.per_check_consistency === null && check.raw_runs.length === 1;
  return [
    severity,
    { name: "Votes", value: votes(check) },
    { name: "Confidence", value: score(check.per_check_confidence) },
    { name: "Consistency", value: alone ? "not measured (one run)" : score(check.per_check_consistency) },
  ];
}

export function runFacts(run: RawRun): string {
  return [
    run.confidence === null ? "" : `confidence ${score(run.confidence)}`,
    run.rule ? `rule ${run.rule}` : "",
    run.model ?? "",
    run.seconds === null ? "" : seconds(run.seconds),
  ]
    .filter(Boolean)
    .join(", ");
}

export function band(report: Report): string {
  const { consistency_score: found, threshold_ok, threshold_warn, num_runs } = report.variance_summary;
  if (found === null) return num_runs === 1 ? "not measured (one run)" : "not enough valid votes";
  if (found >= threshold_ok) return "stable";
  return found < threshold_warn ? "not reliable for decisions" : "some findings diverge";
}

const ORIGIN = { true: "saved as a baseline", false: "the newest earlier full report", null: "origin unknown" };

export function driftFacts(of: DriftSummary): Fact[] {
  return [
    { name: "Baseline’s time", value: time(of.baseline_timestamp) },
    { name: "Its origin", value: ORIGIN[String(of.baseline_saved) as keyof typeof ORIGIN] },
    { name: "Consistency then", value: score(of.consistency_before) },
    { name: "Change in consistency", value: change(of.consistency_delta) },
    { name: "Same text", value: yesOrNo(of.same_text) },
    { name: "Same judge", value: yesOrNo(of.same_judge) },
  ];
}

function yesOrNo(value: boolean | null): string {
  return value === null ? UNKNOWN : value ? "yes" : "no";
}

export function modelFacts(of: ModelFingerprint): Fact[] {
  const declared = (value: string | number | null) => (value === null ? "not applicable" : String(value));
  const rest = Object.entries(of.other_runtime_metadata).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? value : JSON.stringify(value),
    code: true,
  }));
  return [
    { name: "Declared model name", value: declared(of.declared_model_name), code: true },
    { name: "Declared model version", value: declared(of.declared_model_version), code: true },
    { name: "Provider", value: declared(of.provider) },
    { name: "Routing or mode", value: declared(of.routing_or_mode) },
    { name: "Temperature", value: declared(of.temperature) },
    { name: "System prompt id", value: declared(of.system_prompt_id), code: true },
    ...rest,
  ];
}

export function spentFacts(report: Report): Fact[] {
  const { calls, tokens, cost_usd, seconds: took } = report.spent;
  const counts = tokens
    ? [
        `${whole(tokens.input)} in`,
        tokens.cache_read ? `${whole(tokens.cache_read)} read from the cache` : "",
        tokens.cache_write ? `${whole(tokens.cache_write)} written to the cache` : "",
        `${whole(tokens.output)} out`,
      ]
        .filter(Boolean)
        .join(", ")
    : UNKNOWN;
  return [
    { name: "Calls", value: counted(calls, "call") },
    { name: "Tokens", value: counts },
    { name: "Cost", value: money(cost_usd) },
    { name: "Duration", value: seconds(took) },
  ];
}

export function integrityFacts(report: Report): Fact[] {
  const { integrity } = report;
  const hash = (name: string, value: string): Fact => ({ name, value, code: true, copy: true });
  return [
    hash("Playbook logic hash", integrity.playbook_logic_hash),
    hash("Inputs fingerprint", integrity.inputs_fingerprint),
    hash("Report hash", integrity.report_hash),
    { name: "Runner", value: integrity.runner_fingerprint, code: true },
    { name: "Specification", value: `BYOP ${report.spec_version}` },
    ...Object.entries(integrity.raw_inputs).map(([name, value]) => hash(`Bytes of ${name}`, value)),
  ];
}
