/** A word, a sign and a tone for how things came out: colour is never all that tells. */

import type { Outcome, Verdict } from "@/api/types";
import { Label, type Tone } from "@/components/Badge";
import { OUTCOME_WORDS } from "./words";

interface Look {
  sign: string;
  tone: Tone;
}

const VERDICTS: Record<Verdict, Look> = {
  passed: { sign: "✓", tone: "green" },
  failed: { sign: "✗", tone: "red" },
  inconclusive: { sign: "?", tone: "grey" },
  open: { sign: "◌", tone: "blue" },
  error: { sign: "!", tone: "amber" },
};

const OUTCOMES: Record<Outcome, Look> = {
  passed: { sign: "✓", tone: "green" },
  failed: { sign: "✗", tone: "red" },
  error: { sign: "!", tone: "amber" },
  interrupted: { sign: "‖", tone: "amber" },
  not_run: { sign: "–", tone: "plain" },
};

export function verdictTone(of: Verdict): Tone {
  return VERDICTS[of].tone;
}

export function outcomeTone(of: Outcome): Tone {
  return OUTCOMES[of].tone;
}

export function VerdictBadge({ of, large = false }: { of: Verdict; large?: boolean }) {
  return <Signed look={VERDICTS[of]} word={of.toUpperCase()} large={large} />;
}

export function OutcomeBadge({ of, large = false }: { of: Outcome; large?: boolean }) {
  return <Signed look={OUTCOMES[of]} word={OUTCOME_WORDS[of].toUpperCase()} large={large} />;
}

/** What an assertion came to: neither passed nor failed where it could not be judged. */
export function JudgedBadge({ passed }: { passed: boolean | null }) {
  if (passed === null) return <Signed look={OUTCOMES.error} word="NOT JUDGED" />;
  return <OutcomeBadge of={passed ? "passed" : "failed"} />;
}

function Signed({ look, word, large = false }: { look: Look; word: string; large?: boolean }) {
  return (
    <Label tone={look.tone} large={large}>
      <span aria-hidden="true">{look.sign} </span>
      {word}
    </Label>
  );
}
