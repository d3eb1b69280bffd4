/** A playbook's document as the editor changes it. Fields that the form does not know stay as they are. */

import type { PlaybookDocument } from "@/api/types";

export type Step = string | number;
export type Path = readonly Step[];

/** The value at a path; undefined where there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let part = value;
  for (const step of path) {
    if (typeof part !== "object" || part === null) return undefined;
    part = (part as Record<Step, unknown>)[step];
  }
  return part;
}

export function textAt(document: unknown, path: Path): string {
  const value = valueAt(document, path);
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

export function textsAt(document: unknown, path: Path): string[] {
  const value = valueAt(document, path);
  if (Array.isArray(value)) return value.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  return typeof value === "string" ? [value] : [];
}

/** A copy with another value at the path; undefined removes it. */
export function withValue<Value>(value: Value, path: Path, next: unknown): Value {
  const [step, ...rest] = path;
  if (step === undefined) return next as Value;
  const inner = valueAt(value, [step]);
  const changed = rest.length ? withValue(inner, rest, next) : next;
  if (Array.isArray(value)) {
    const items = [...value];
    if (changed === undefined) items.splice(Number(step), 1);
    else items[Number(step)] = changed;
    return items as Value;
  }
  const { [step]: _, ...others } = (typeof value === "object" && value !== null ? value : {}) as Record<Step, unknown>;
  if (changed === undefined) return others as Value;
  // A changed field stays in its place, so that an exported file changes only where it was edited.
  return (
    step in ((value ?? {}) as object) ? { ...(value as object), [step]: changed } : { ...others, [step]: changed }
  ) as Value;
}

/** The path as the server writes it: $.checks[0].severity */
export function jsonPath(path: Path): string {
  return `$${path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("")}`;
}

export function checksOf(document: PlaybookDocument): Record<string, unknown>[] {
  return Array.isArray(document.checks) ? (document.checks as Record<string, unknown>[]) : [];
}

/** "1.0.9" becomes "1.0.10"; a version without a number at its end gets one. */
export function nextVersion(version: string): string {
  const match = /^(.*?)(\d+)$/.exec(version);
  return match ? `${match[1]}${Number(match[2]) + 1}` : `${version}.1`;
}

/** An id made of a title: "NDA review" becomes "nda_review". */
export function idFromTitle(title: string): string {
  return title
    .normalize("NFKD")
    .replace(/[^\w\s-]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_")
    .slice(0, 100);
}

export function newCheck(): Record<string, unknown> {
  return {
    id: "",
    severity: "medium",
    question: "",
    detection_method: { type: "semantic", instructions: "" },
    result_states: ["pass", "fail", "indeterminate"],
    evidence_requirements: { require_citations: true, citation_type: "output_spans", min_citations_per_fail: 1 },
  };
}

/** A playbook with every section that the specification asks for, and one empty check. */
export function newDocument(today: string): PlaybookDocument {
  return {
    metadata: {
      id: "",
      title: "",
      version: "1.0.0",
      author: "",
      created_at: today,
      jurisdiction: "neutral",
      intended_use: "",
    },
    input_contract: {
      artifact_type: "ai_output_only",
      required_inputs: ["ai_output"],
      optional_inputs: ["source_document", "prompt", "system_instructions"],
      normalization_rules: ["white space at both ends is removed", "line ends become LF"],
    },
    assumptions: ["The text is finished: nothing is added to it, and its author is not asked again."],
    risk_posture: { tolerance: "low", primary_risks: ["a reader relies on something that the text does not support"] },
    checks: [newCheck()],
    variance_handling: {
      min_runs: 3,
      aggregation: "majority_vote",
      thresholds: { consistency_score_min_ok: 0.85, consistency_score_warn: 0.7 },
    },
    output_contract: {
      required_fields: [
        "summary",
        "check_results",
        "assumptions_extracted",
        "uncertainty",
        "unchecked_areas",
        "variance_summary",
        "limitations",
        "integrity",
      ],
    },
    logging: {
      required_fields: [
        "playbook_id",
        "playbook_version",
        "playbook_logic_hash",
        "runner_name",
        "runner_version",
        "timestamp",
        "model_fingerprint",
        "inputs_fingerprint",
        "raw_runs",
        "byop_report",
      ],
    },
  };
}

/** A copy of another playbook, which becomes a playbook of its own. */
export function copyDocument(document: PlaybookDocument, today: string): PlaybookDocument {
  const metadata = (document.metadata ?? {}) as Record<string, unknown>;
  const copy = {
    ...metadata,
    id: `${textAt(document, ["metadata", "id"])}_copy`,
    title: `Copy of ${textAt(document, ["metadata", "title"]) || textAt(document, ["metadata", "id"])}`,
    version: "1.0.0",
    created_at: today,
  };
  return { ...document, metadata: copy };
}
