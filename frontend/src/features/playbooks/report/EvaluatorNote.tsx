import { createContext, useContext } from "react";
import { VisibleText } from "@/components/VisibleText";

/** Texts of the evaluator that assert what no report may assert, and what stands in their place: the server says both. */
interface WithheldNotes {
  texts: ReadonlySet<string>;
  notice: string;
}

const Context = createContext<WithheldNotes>({ texts: new Set(), notice: "" });

export const WithheldProvider = Context.Provider;

/** A note of the evaluator, unless it is one of those. */
export function EvaluatorNote({ children }: { children: string }) {
  const { texts, notice } = useContext(Context);
  return <VisibleText>{texts.has(children) ? notice : children}</VisibleText>;
}
