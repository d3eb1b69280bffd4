import { createContext, useContext } from "react";
import { Seen } from "@/components/Seen";

/** Texts of the evaluator that assert what no report may assert, and what stands in their place: the server says both. */
interface Withheld {
  texts: ReadonlySet<string>;
  notice: string;
}

const Context = createContext<Withheld>({ texts: new Set(), notice: "" });

export const WithheldProvider = Context.Provider;

/** A note of the evaluator, unless it is one of those. */
export function Said({ children }: { children: string }) {
  const { texts, notice } = useContext(Context);
  return <Seen>{texts.has(children) ? notice : children}</Seen>;
}
