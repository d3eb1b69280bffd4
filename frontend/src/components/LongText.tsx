import { useState } from "react";
import { formatBytes } from "@/lib/format";
import { truncate } from "@/lib/text";
import { Button } from "./Button";
import { VisibleText } from "./VisibleText";

const PREVIEW_LINES = 24;
const PREVIEW_CHARACTERS = 1600;
/** Shown per click: a browser lays out a few hundred thousand characters without a noticeable pause. */
const CHUNK = 200_000;

interface LongTextProps {
  text: string;
  label: string;
  mono?: boolean;
  /** Start with the first chunk instead of the short preview. */
  expanded?: boolean;
}

/** Untrusted text of any length: a preview, and the rest on demand. */
export function LongText({ text, label, mono = true, expanded = false }: LongTextProps) {
  const [limit, setLimit] = useState(expanded ? CHUNK : 0);
  const truncated = limit
    ? truncate(text, limit, Number.POSITIVE_INFINITY)
    : truncate(text, PREVIEW_CHARACTERS, PREVIEW_LINES);
  if (!text) return <p className="text-soft text-sm">(empty)</p>;
  return (
    <div>
      <ScrollBox label={label} enabled={limit > 0}>
        <div className={`foreign ${mono ? "font-mono text-[0.82rem] leading-normal" : ""}`}>
          <VisibleText>{truncated.text}</VisibleText>
          {truncated.omitted ? <span aria-hidden="true"> …</span> : null}
        </div>
      </ScrollBox>
      {truncated.omitted || limit ? (
        <p className="mt-1 flex gap-3 print:hidden">
          {truncated.omitted ? (
            <Button
              variant="text"
              className="px-1.5 py-0 text-sm"
              onClick={() => setLimit((current) => current + CHUNK)}
              aria-label={`Show ${truncated.omitted > CHUNK ? "more" : "all"} of ${label}`}
            >
              Show {truncated.omitted > CHUNK ? "more" : "all"} ({formatBytes(truncated.omitted)} more)
            </Button>
          ) : null}
          {limit ? (
            <Button
              variant="text"
              className="px-1.5 py-0 text-sm"
              onClick={() => setLimit(0)}
              aria-label={`Show less of ${label}`}
            >
              Show less
            </Button>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}

function ScrollBox({ label, enabled, children }: { label: string; enabled: boolean; children: React.ReactNode }) {
  if (!enabled) return children;
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className="max-h-[32rem] overflow-auto print:max-h-none"
    >
      {children}
    </section>
  );
}
