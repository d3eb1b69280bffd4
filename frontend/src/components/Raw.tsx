import { useMemo, useState } from "react";
import { Copy } from "./Copy";
import { Disclosure } from "./Fold";
import { Folded } from "./Folded";

/** The thing itself, as JSON, made only when it is looked at. */
export function RawJson({ of, title = "Raw JSON" }: { of: unknown; title?: string }) {
  const [open, setOpen] = useState(false);
  const text = useMemo(() => (open ? JSON.stringify(of, null, 2) : ""), [open, of]);
  return (
    <Disclosure title={title} toggle={setOpen}>
      {open ? (
        <>
          <Copy text={text} what={title} />
          <Folded text={text} what={title} />
        </>
      ) : null}
    </Disclosure>
  );
}
