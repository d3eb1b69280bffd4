import type { JobState, Result, ShownStatus } from "@/api/types";

export type Tone = "red" | "amber" | "blue" | "green" | "grey" | "plain";

/** A badge has a word, a sign and a tone, so that color is never the only cue. */
export interface BadgeStyle {
  sign: string;
  tone: Tone;
}

const BADGE_STYLES: Record<ShownStatus | Result, BadgeStyle> = {
  ALERT: { sign: "▲", tone: "red" },
  REVIEW: { sign: "◆", tone: "amber" },
  OBSERVE: { sign: "●", tone: "blue" },
  STABLE: { sign: "■", tone: "green" },
  INCOMPLETE: { sign: "…", tone: "amber" },
  pass: { sign: "✓", tone: "green" },
  fail: { sign: "✗", tone: "red" },
  indeterminate: { sign: "?", tone: "grey" },
};

export function badgeTone(value: ShownStatus | Result): Tone {
  return BADGE_STYLES[value].tone;
}

export function badgeSign(value: ShownStatus | Result): string {
  return BADGE_STYLES[value].sign;
}

export function Badge({ value, large = false }: { value: ShownStatus | Result; large?: boolean }) {
  return <StyledBadge style={BADGE_STYLES[value]} label={value.toUpperCase()} large={large} />;
}

export function StyledBadge({ style, label, large = false }: { style: BadgeStyle; label: string; large?: boolean }) {
  return (
    <Label tone={style.tone} large={large}>
      <span aria-hidden="true">{style.sign} </span>
      {label}
    </Label>
  );
}

/** The status that people see: a provider's fault is not a finding. */
export function shownStatus(row: { status: ShownStatus; incomplete: boolean | null }): ShownStatus {
  return row.incomplete ? "INCOMPLETE" : row.status;
}

const STATE_TONES: Partial<Record<JobState, Tone>> = {
  running: "blue",
  queued: "blue",
  batched: "blue",
  interrupted: "amber",
  failed: "red",
};

export function StateLabel({ state }: { state: JobState }) {
  return <Label tone={STATE_TONES[state] ?? "plain"}>{state === "batched" ? "waits for provider" : state}</Label>;
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
