import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "@/api/client";
import { type Draft, toRequest } from "./draft";

const DEBOUNCE_MS = 500;

/** Where the texts would be sent, roughly what it would cost, and warnings about the texts; requested when typing pauses. */
export function useEstimate(draft: Draft) {
  const [debounced, setDebounced] = useState(draft);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(draft), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [draft]);
  const enabled = Boolean(debounced.ai_output.trim());
  return useQuery({
    // A number instead of the long texts: the draft is a new object after each change.
    queryKey: ["estimate", draftNumber(debounced)],
    queryFn: ({ signal }) => api.estimate(toRequest(debounced), signal),
    enabled,
    gcTime: 0,
    retry: false,
  });
}

const numbers = new WeakMap<Draft, number>();
let last = 0;

function draftNumber(draft: Draft): number {
  const existing = numbers.get(draft);
  if (existing) return existing;
  last += 1;
  numbers.set(draft, last);
  return last;
}
