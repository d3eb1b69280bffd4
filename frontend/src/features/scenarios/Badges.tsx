/** Badges for outcomes. */

import type { Outcome, Verdict } from "@/api/types";
import { type BadgeStyle, StyledBadge, type Tone } from "@/components/Badge";
import { outcomeLabel } from "./labels";

const VERDICTS: Record<Verdict, BadgeStyle> = {
  passed: { sign: "✓", tone: "green" },
  failed: { sign: "✗", tone: "red" },
  inconclusive: { sign: "?", tone: "grey" },
  open: { sign: "◌", tone: "blue" },
  error: { sign: "!", tone: "amber" },
};

const OUTCOMES: Record<Outcome, BadgeStyle> = {
  passed: { sign: "✓", tone: "green" },
  failed: { sign: "✗", tone: "red" },
  error: { sign: "!", tone: "amber" },
  interrupted: { sign: "‖", tone: "amber" },
  not_run: { sign: "–", tone: "plain" },
  pending: { sign: "◌", tone: "blue" },
};

export function verdictTone(verdict: Verdict): Tone {
  return VERDICTS[verdict].tone;
}

export function outcomeTone(outcome: Outcome): Tone {
  return OUTCOMES[outcome].tone;
}

export function VerdictBadge({ verdict, large = false }: { verdict: Verdict; large?: boolean }) {
  return <StyledBadge style={VERDICTS[verdict]} label={verdict.toUpperCase()} large={large} />;
}

export function OutcomeBadge({ outcome, large = false }: { outcome: Outcome; large?: boolean }) {
  return <StyledBadge style={OUTCOMES[outcome]} label={outcomeLabel(outcome).toUpperCase()} large={large} />;
}

/** The result of an assertion; null if it could not be judged, or not yet. */
export function AssertionBadge({ passed, pending = false }: { passed: boolean | null; pending?: boolean }) {
  if (pending) return <OutcomeBadge outcome="pending" />;
  if (passed === null) return <StyledBadge style={OUTCOMES.error} label="NOT JUDGED" />;
  return <OutcomeBadge outcome={passed ? "passed" : "failed"} />;
}
