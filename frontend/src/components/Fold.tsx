/** Something to look at on demand. */
export function Fold({
  title,
  children,
  open = false,
}: {
  title: React.ReactNode;
  children: React.ReactNode;
  open?: boolean;
}) {
  return (
    <details open={open} className={DETAILS}>
      <Summary>{title}</Summary>
      <div className="border-rule border-t px-4 py-3">{children}</div>
    </details>
  );
}

/** The same for what is made or fetched only then: its content is there while it is open. */
export function Disclosure({
  title,
  toggle,
  children,
}: {
  title: React.ReactNode;
  toggle: (open: boolean) => void;
  children: React.ReactNode;
}) {
  return (
    <details onToggle={(event) => toggle(event.currentTarget.open)} className={`${DETAILS} print:hidden`}>
      <Summary>{title}</Summary>
      <div className="border-rule border-t px-4 py-3">{children}</div>
    </details>
  );
}

const DETAILS = "group rounded border border-rule bg-card";

function Summary({ children }: { children: React.ReactNode }) {
  return (
    <summary className="flex list-none items-center gap-2 px-4 py-2 font-semibold hover:bg-well [&::-webkit-details-marker]:hidden">
      <span aria-hidden="true" className="inline-block text-soft transition-transform group-open:rotate-90">
        ▸
      </span>
      {children}
    </summary>
  );
}
