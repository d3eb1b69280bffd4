import { createContext, useContext } from "react";
import { Seen } from "@/components/Seen";
import { WITHHELD } from "./words";

/** Texts of the evaluator that assert what no report may assert: the server knows which. */
const Withheld = createContext<ReadonlySet<string>>(new Set());

export const WithheldProvider = Withheld.Provider;

/** A note of the evaluator, unless it is one of those. */
export function Said({ children }: { children: string }) {
  return useContext(Withheld).has(children) ? WITHHELD : <Seen>{children}</Seen>;
}
