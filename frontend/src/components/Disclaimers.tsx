/** The three sentences that every view of a report shows. The banner cannot be closed, on purpose. */
export const DISCLAIMERS = [
  "This is an observability report, not legal advice.",
  "Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.",
  "Report describes behavior under this playbook and inputs.",
];

export function Disclaimers({ extra = [] }: { extra?: readonly string[] }) {
  const lines = [...new Set([...DISCLAIMERS, ...extra])];
  return (
    <aside
      aria-label="Disclaimers"
      className="mb-6 rounded bg-ink px-5 py-3 font-semibold text-paper print:border-2 print:border-ink print:bg-transparent print:text-ink"
    >
      <ul className="flex flex-wrap gap-x-8 gap-y-1">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </aside>
  );
}
