/** The three sentences that every view of a report shows. The banner stays in view, and cannot be closed, on purpose. */
const DISCLAIMERS = [
  "This is an observability report, not legal advice.",
  "Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.",
  "Report describes behavior under this playbook and inputs.",
];

/** The three, then any others that a report has. */
export function withDisclaimers(extra: readonly string[]): string[] {
  return [...new Set([...DISCLAIMERS, ...extra])];
}

export function Disclaimers({ extra = [] }: { extra?: readonly string[] }) {
  return (
    <aside
      aria-label="Disclaimers"
      className="sticky top-0 z-20 -mx-4 mb-6 bg-ink px-4 py-2 font-semibold text-paper text-xs sm:mx-0 sm:rounded-b sm:px-5 sm:text-sm print:static print:border-2 print:border-ink print:bg-transparent print:text-ink"
    >
      <ul className="flex flex-wrap gap-x-8 gap-y-0.5">
        {withDisclaimers(extra).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </aside>
  );
}
