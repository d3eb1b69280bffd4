/** What a report says, in the words that the other renderings use too. */
import type { CheckResult, DriftSummary, ModelFingerprint, RawRun, Report, Status } from "@/api/types";
import type { Fact } from "@/components/layout";
import {
  formatChange,
  formatCount,
  formatMoney,
  formatScore,
  formatSeconds,
  formatTime,
  pluralize,
  UNKNOWN,
} from "@/lib/format";

export const EVALUATOR_VARIANCE =
  "Variance in results may reflect evaluator model behavior, not only the AI output being tested. BYOP reports describe observable signals, not ground truth.";
export const REJECTED_NOTICE = "Given as quotes, but they stand nowhere in the text. They carry no weight.";
export const INCOMPLETE_NOTICE =
  "This report is incomplete: at least one check has fewer than a majority of valid votes. What is here stands; what is missing was not judged.";
export const TEXTS_WITHHELD_NOTICE = "Only fingerprints were kept: where a quote or a note stood, its hash stands.";

export const STATUS_LABELS: Record<Status, string> = {
  ALERT: "Something grave was seen. Have it looked at before anyone relies on the text.",
  REVIEW: "Something needs a person’s review before anyone relies on the text.",
  OBSERVE: "Nothing grave was seen; some signals are worth watching.",
  STABLE: "No signal under this playbook and these inputs. That is all it says.",
};
export const MODE_LABELS = {
  full: "Auditable (variance-aware)",
  screening: "Non-auditable quick check (not comparable over time)",
};
export const DECIDED_BY_LABELS: Record<CheckResult["decided_by"], string> = {
  evaluator: "",
  patterns: "Decided by the playbook’s patterns; the evaluator was not asked.",
  derived: "Derived from the other results; the evaluator was not asked.",
};
export const AGGREGATION_LABELS = {
  majority_vote: "a strict majority of the runs decides",
  report_all_runs: "a strict majority of the runs decides, and every run is shown",
  consensus_required: "the runs must be unanimous",
};
export const DRIFT_LABELS: Record<DriftSummary["kind"], string> = {
  none: "No drift: nothing worsened against the baseline.",
  output: "The output drifted: another text, judged by the same evaluator.",
  judge: "The judge drifted: the same text, judged by another evaluator.",
  evaluator_instability: "The evaluator is unstable: the same text and the same judge gave other results.",
  undetermined: "Text and judge both changed: which of them drifted cannot be told.",
  not_compared: "Not compared with a baseline.",
};

/** As a test suite closes: "1 failed, 3 passed, 2 indeterminate". */
export function resultCounts(checks: readonly CheckResult[]): string {
  const labels = { fail: "failed", pass: "passed", indeterminate: "indeterminate" };
  return Object.entries(labels)
    .map(([result, label]) => [checks.filter((check) => check.result === result).length, label] as const)
    .filter(([count]) => count)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

/** How many of its runs voted for what the check came to, before its evidence was looked up. */
export function describeVotes(check: CheckResult): string {
  const runs = check.raw_runs.length;
  const valid = check.raw_runs.filter(({ valid }) => valid);
  if (check.incomplete) return `${valid.length} valid of ${runs}`;
  const majority = check.raw_result ?? check.result;
  const agreeing = valid.filter(({ result }) => result === majority).length;
  if (2 * agreeing > runs) return `${agreeing} of ${runs}${majority === check.result ? "" : ` for ${majority}`}`;
  const split = (["pass", "fail", "indeterminate"] as const)
    .map((result) => [valid.filter((run) => run.result === result).length, result] as const)
    .filter(([count]) => count);
  return `split: ${split.map(([count, result]) => `${count} ${result}`).join(", ")}`;
}

export function checkFacts(check: CheckResult): Fact[] {
  const severity = { name: "Severity", value: check.severity };
  if (!check.raw_runs.length) return [severity];
  const singleRun = check.per_check_consistency === null && check.raw_runs.length === 1;
  return [
    severity,
    { name: "Votes", value: describeVotes(check) },
    { name: "Confidence", value: formatScore(check.per_check_confidence) },
    { name: "Consistency", value: singleRun ? "not measured (one run)" : formatScore(check.per_check_consistency) },
  ];
}

export function describeRun(run: RawRun): string {
  return [
    run.confidence === null ? "" : `confidence ${formatScore(run.confidence)}`,
    run.rule ? `rule ${run.rule}` : "",
    run.model ?? "",
    run.seconds === null ? "" : formatSeconds(run.seconds),
  ]
    .filter(Boolean)
    .join(", ");
}

export function consistencyLabel(report: Report): string {
  const { consistency_score: consistency, threshold_ok, threshold_warn, num_runs } = report.variance_summary;
  if (consistency === null) return num_runs === 1 ? "not measured (one run)" : "not enough valid votes";
  if (consistency >= threshold_ok) return "stable";
  return consistency < threshold_warn ? "not reliable for decisions" : "some findings diverge";
}

const BASELINE_SOURCES = {
  true: "saved as a baseline",
  false: "the newest earlier full report",
  null: "origin unknown",
};

export function driftFacts(drift: DriftSummary): Fact[] {
  return [
    { name: "Baseline’s time", value: formatTime(drift.baseline_timestamp) },
    { name: "Its origin", value: BASELINE_SOURCES[String(drift.baseline_saved) as keyof typeof BASELINE_SOURCES] },
    { name: "Consistency then", value: formatScore(drift.consistency_before) },
    { name: "Change in consistency", value: formatChange(drift.consistency_delta) },
    { name: "Same text", value: yesOrNo(drift.same_text) },
    { name: "Same judge", value: yesOrNo(drift.same_judge) },
  ];
}

function yesOrNo(value: boolean | null): string {
  return value === null ? UNKNOWN : value ? "yes" : "no";
}

export function modelFacts(fingerprint: ModelFingerprint): Fact[] {
  const declared = (value: string | number | null) => (value === null ? "not applicable" : String(value));
  const metadata = Object.entries(fingerprint.other_runtime_metadata).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? value : JSON.stringify(value),
    code: true,
  }));
  return [
    { name: "Declared model name", value: declared(fingerprint.declared_model_name), code: true },
    { name: "Declared model version", value: declared(fingerprint.declared_model_version), code: true },
    { name: "Provider", value: declared(fingerprint.provider) },
    { name: "Routing or mode", value: declared(fingerprint.routing_or_mode) },
    { name: "Temperature", value: declared(fingerprint.temperature) },
    { name: "System prompt id", value: declared(fingerprint.system_prompt_id), code: true },
    ...metadata,
  ];
}

export function spendingFacts(report: Report): Fact[] {
  const { calls, tokens, cost_usd, seconds: duration } = report.spent;
  const counts = tokens
    ? [
        `${formatCount(tokens.input)} in`,
        tokens.cache_read ? `${formatCount(tokens.cache_read)} read from the cache` : "",
        tokens.cache_write ? `${formatCount(tokens.cache_write)} written to the cache` : "",
        `${formatCount(tokens.output)} out`,
      ]
        .filter(Boolean)
        .join(", ")
    : UNKNOWN;
  return [
    { name: "Calls", value: pluralize(calls, "call") },
    { name: "Tokens", value: counts },
    { name: "Cost", value: formatMoney(cost_usd) },
    { name: "Duration", value: formatSeconds(duration) },
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
