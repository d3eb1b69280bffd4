/** Content that is collapsed until it is opened. */
export function Details({
  title,
  children,
  open = false,
}: {
  title: React.ReactNode;
  children: React.ReactNode;
  open?: boolean;
}) {
  return (
    <details open={open} className={DETAILS_CLASS}>
      <Summary>{title}</Summary>
      <div className="border-rule border-t px-4 py-3">{children}</div>
    </details>
  );
}

/** Like Details, for content that is created or fetched only while it is open. */
export function LazyDetails({
  title,
  onToggle,
  children,
}: {
  title: React.ReactNode;
  onToggle: (open: boolean) => void;
  children: React.ReactNode;
}) {
  return (
    <details onToggle={(event) => onToggle(event.currentTarget.open)} className={`${DETAILS_CLASS} print:hidden`}>
      <Summary>{title}</Summary>
      <div className="border-rule border-t px-4 py-3">{children}</div>
    </details>
  );
}

const DETAILS_CLASS = "group rounded border border-rule bg-card";

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
