import { Fragment } from "react";
import { splitInvisible } from "@/lib/unicodeEscape";

/** A text from outside, as text and nothing else; characters that cannot be seen are spelled out. */
export function VisibleText({ children }: { children: string }) {
  const pieces = splitInvisible(children);
  if (pieces.length === 1 && !pieces[0]?.invisible) return children;
  return pieces.map((piece, index) =>
    piece.invisible ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change their order
      <span key={index} className="escaped" title="A character that cannot be seen">
        {piece.text}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change their order
      <Fragment key={index}>{piece.text}</Fragment>
    ),
  );
}
