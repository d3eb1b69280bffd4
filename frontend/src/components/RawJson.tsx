import { useMemo, useState } from "react";
import { CopyButton } from "./CopyButton";
import { LazyDetails } from "./Details";
import { LongText } from "./LongText";

/** A value as JSON, serialized when it is opened. */
export function RawJson({ value, title = "Raw JSON" }: { value: unknown; title?: string }) {
  const [open, setOpen] = useState(false);
  const text = useMemo(() => (open ? JSON.stringify(value, null, 2) : ""), [open, value]);
  return (
    <LazyDetails title={title} onToggle={setOpen}>
      {open ? (
        <>
          <CopyButton text={text} label={title} />
          <LongText text={text} label={title} expanded />
        </>
      ) : null}
    </LazyDetails>
  );
}
