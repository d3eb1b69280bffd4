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
    <details open={open} className="group rounded border border-rule bg-card">
      <summary className="flex list-none items-center gap-2 px-4 py-2 font-semibold hover:bg-well [&::-webkit-details-marker]:hidden">
        <span aria-hidden="true" className="inline-block text-soft transition-transform group-open:rotate-90">
          ▸
        </span>
        {title}
      </summary>
      <div className="border-rule border-t px-4 py-3">{children}</div>
    </details>
  );
}
