import type { Location } from "@/api/types";
import { VisibleText } from "@/components/VisibleText";

/** Scrolls to a quote in the text; null if the text is not stored. */
export type ShowInText = ((location: Location) => void) | null;

/** A quote; if it was found in the text, a button that shows it there. */
export function Quote({ span, location, show }: { span: string; location: Location | null; show: ShowInText }) {
  const content = (
    <>
      “<VisibleText>{span}</VisibleText>”
    </>
  );
  if (!location || !show) return content;
  return (
    <button
      type="button"
      data-quote={location.start}
      title="Show in the text"
      className="foreign text-left underline decoration-dotted decoration-soft underline-offset-4 hover:bg-mark"
      onClick={() => show(location)}
    >
      {content}
    </button>
  );
}
