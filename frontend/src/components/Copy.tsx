import { useEffect, useState } from "react";
import { Button } from "./Button";

/** Copies a text, and says whether it did. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [said, say] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => say(""), 2500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      say("Not copied: select it instead"); // the browser forbids it, or the address is not a secure one
    }
  };
  return (
    <span className="inline-flex items-center gap-2 print:hidden">
      <Button look="quiet" className="px-1.5 py-0 text-sm" onClick={copy} aria-label={`Copy ${what}`}>
        Copy
      </Button>
      <span role="status" className="text-sm text-soft">
        {said}
      </span>
    </span>
  );
}
