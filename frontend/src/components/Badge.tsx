import type { JobState, Result, Status } from "@/api/types";

export type Tone = "red" | "amber" | "blue" | "green" | "grey" | "plain";

/** A word, a sign and a tone: colour is never all that tells. */
const LOOKS: Record<Status | Result, { sign: string; tone: Tone }> = {
  ALERT: { sign: "▲", tone: "red" },
  REVIEW: { sign: "◆", tone: "amber" },
  OBSERVE: { sign: "●", tone: "blue" },
  STABLE: { sign: "■", tone: "green" },
  pass: { sign: "✓", tone: "green" },
  fail: { sign: "✗", tone: "red" },
  indeterminate: { sign: "?", tone: "grey" },
};

export function toneOf(of: Status | Result): Tone {
  return LOOKS[of].tone;
}

export function signOf(of: Status | Result): string {
  return LOOKS[of].sign;
}

export function Badge({ of, large = false }: { of: Status | Result; large?: boolean }) {
  const { sign, tone } = LOOKS[of];
  return (
    <Label tone={tone} large={large}>
      <span aria-hidden="true">{sign} </span>
      {of.toUpperCase()}
    </Label>
  );
}

const STATES: Partial<Record<JobState, Tone>> = {
  running: "blue",
  queued: "blue",
  interrupted: "amber",
  failed: "red",
};

export function StateLabel({ of }: { of: JobState }) {
  return <Label tone={STATES[of] ?? "plain"}>{of}</Label>;
}

export function Label({ tone, large = false, children }: { tone: Tone; large?: boolean; children: React.ReactNode }) {
  const size = large ? "px-3 py-1 text-xl" : "px-2 py-px text-[0.8rem]";
  return (
    <span
      data-tone={tone}
      className={`inline-block whitespace-nowrap rounded border-[1.5px] border-(--tone) bg-(--tint) font-bold font-sans tracking-wide text-(--tone) ${size}`}
    >
      {children}
    </span>
  );
}
