import type { Tone } from "./Badge";

interface StatusBannerProps {
  label: string;
  tone: Tone;
  badge: React.ReactNode;
  /** Shown after the text. */
  aside?: React.ReactNode;
  children: React.ReactNode;
}

/** The result of a report, a batch or a run: a large badge and what it means. */
export function StatusBanner({ label, tone, badge, aside, children }: StatusBannerProps) {
  return (
    <section
      aria-label={label}
      data-tone={tone}
      className="flex flex-wrap items-start gap-x-5 gap-y-2 rounded border-(--tone) border-l-[0.4rem] bg-(--tint) px-5 py-4"
    >
      {badge}
      <div className="min-w-0 flex-1 basis-72">{children}</div>
      {aside}
    </section>
  );
}
