import { useId, useState } from "react";

/** A note behind an “i” button: shown on hover, focus or click, and closed with Escape. */
export function Tooltip({ label, children }: { label: string; children: string }) {
  const id = useId();
  const [open, setOpen] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside is the control; this only keeps the note open
    <span
      className="relative inline-block print:hidden"
      onMouseEnter={() => setOpen(true)}
      onMouseLeave={() => setOpen(false)}
    >
      <button
        type="button"
        aria-label={label}
        aria-describedby={id}
        aria-expanded={open}
        className="inline-flex size-6 items-center justify-center rounded-full border border-edge bg-card font-serif text-sm text-ink italic"
        onClick={() => setOpen(true)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
      >
        i
      </button>
      <span
        id={id}
        role="tooltip"
        className={`absolute top-full right-0 z-20 mt-1 w-72 max-w-[80vw] rounded border border-edge bg-card p-3 text-left font-normal font-sans text-sm shadow-lg ${open ? "" : "hidden"}`}
      >
        {children}
      </span>
    </span>
  );
}
