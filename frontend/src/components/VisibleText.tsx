import { Fragment } from "react";
import { splitInvisible } from "@/lib/unicodeEscape";

/** Untrusted text, rendered as plain text; invisible characters are replaced by their code points. */
export function VisibleText({ children }: { children: string }) {
  const pieces = splitInvisible(children);
  if (pieces.length === 1 && !pieces[0]?.invisible) return children;
  return pieces.map((piece, index) =>
    piece.invisible ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change their order
      <span key={index} className="escaped" title="Invisible character">
        {piece.text}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change their order
      <Fragment key={index}>{piece.text}</Fragment>
    ),
  );
}
