import { Fragment } from "react";
import { pieces } from "@/lib/visible";

/** A text from outside, as text and nothing else; characters that cannot be seen are spelled out. */
export function Seen({ children }: { children: string }) {
  const found = pieces(children);
  if (found.length === 1 && !found[0]?.odd) return children;
  return found.map((piece, index) =>
    piece.odd ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change their order
      <span key={index} className="odd" title="A character that cannot be seen">
        {piece.text}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change their order
      <Fragment key={index}>{piece.text}</Fragment>
    ),
  );
}
