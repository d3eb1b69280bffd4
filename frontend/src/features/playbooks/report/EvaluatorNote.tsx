import { createContext, useContext } from "react";
import { VisibleText } from "@/components/VisibleText";

/** Notes that make claims a report must not make, and the notice shown instead. The server sends both. */
interface WithheldNotes {
  texts: ReadonlySet<string>;
  notice: string;
}

const Context = createContext<WithheldNotes>({ texts: new Set(), notice: "" });

export const WithheldProvider = Context.Provider;

/** A note of the evaluator in the given words, by default its own, or the notice if the note is withheld. */
export function EvaluatorNote({ children, words = children }: { children: string; words?: string }) {
  const { texts, notice } = useContext(Context);
  return <VisibleText>{texts.has(children) ? notice : words}</VisibleText>;
}
