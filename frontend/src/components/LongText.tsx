import { useState } from "react";
import { formatBytes } from "@/lib/format";
import { truncate } from "@/lib/text";
import { Button } from "./Button";
import { ScrollRegion } from "./layout";
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
  const preview = truncate(text, PREVIEW_CHARACTERS, PREVIEW_LINES);
  const truncated = limit ? truncate(text, limit, Number.POSITIVE_INFINITY) : preview;
  if (!text) return <p className="text-soft text-sm">(empty)</p>;
  const content = (
    <div className={`foreign ${mono ? "font-mono text-[0.82rem] leading-normal" : ""}`}>
      <VisibleText>{truncated.text}</VisibleText>
      {truncated.omitted ? <span aria-hidden="true"> …</span> : null}
    </div>
  );
  return (
    <div>
      {limit ? (
        <ScrollRegion label={label} className="max-h-[32rem] overflow-auto print:max-h-none">
          {content}
        </ScrollRegion>
      ) : (
        content
      )}
      {preview.omitted ? (
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
