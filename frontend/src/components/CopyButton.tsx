import { useEffect, useState } from "react";
import { Button } from "./Button";

/** Copies a text to the clipboard and reports whether it worked. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [status, setStatus] = useState("");
  useEffect(() => {
    if (!status) return;
    const timer = setTimeout(() => setStatus(""), 2500);
    return () => clearTimeout(timer);
  }, [status]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setStatus("Copied");
    } catch {
      setStatus("Could not copy. Select the text instead."); // forbidden by the browser, or not a secure context
    }
  };
  return (
    <span className="inline-flex items-center print:hidden">
      <Button variant="text" className="px-1.5 py-0 text-sm" onClick={copy} aria-label={`Copy ${label}`}>
        Copy
      </Button>
      <span role="status" className={`text-sm text-soft ${status ? "ml-2" : ""}`}>
        {status}
      </span>
    </span>
  );
}
