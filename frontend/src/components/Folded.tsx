import { useState } from "react";
import { bytes } from "@/lib/format";
import { cut } from "@/lib/text";
import { Button } from "./Button";
import { Seen } from "./Seen";

const LINES = 24;
const CHARACTERS = 1600;
/** No more at once, however long it is: a browser lays out a few hundred thousand characters without a stop. */
const MORE = 200_000;

/** A text from outside, of any length: its beginning, and the rest on demand. */
export function Folded({ text, what, mono = true }: { text: string; what: string; mono?: boolean }) {
  const [shown, setShown] = useState(0);
  const found = shown ? cut(text, shown, Number.POSITIVE_INFINITY) : cut(text, CHARACTERS, LINES);
  if (!text) return <p className="text-soft text-sm">(empty)</p>;
  return (
    <div>
      <Scrolling label={what} on={shown > 0}>
        <div className={`foreign ${mono ? "font-mono text-[0.82rem] leading-normal" : ""}`}>
          <Seen>{found.text}</Seen>
          {found.left ? <span aria-hidden="true"> …</span> : null}
        </div>
      </Scrolling>
      {found.left || shown ? (
        <p className="mt-1 flex gap-3 print:hidden">
          {found.left ? (
            <Button
              look="quiet"
              className="px-1.5 py-0 text-sm"
              onClick={() => setShown((now) => now + MORE)}
              aria-label={`Show ${found.left > MORE ? "more" : "all"} of ${what}`}
            >
              Show {found.left > MORE ? "more" : "all"} ({bytes(found.left)} more)
            </Button>
          ) : null}
          {shown ? (
            <Button
              look="quiet"
              className="px-1.5 py-0 text-sm"
              onClick={() => setShown(0)}
              aria-label={`Show less of ${what}`}
            >
              Show less
            </Button>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}

function Scrolling({ label, on, children }: { label: string; on: boolean; children: React.ReactNode }) {
  if (!on) return children;
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="max-h-[32rem] overflow-auto print:max-h-none"
    >
      {children}
    </section>
  );
}
