import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "@/api/client";
import { askedFor, type Draft } from "./draft";

const PAUSE = 500;

/** Where the texts would go and about what it would cost, asked for when typing pauses. */
export function useEstimate(draft: Draft) {
  const [settled, setSettled] = useState(draft);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(draft), PAUSE);
    return () => clearTimeout(timer);
  }, [draft]);
  const worth = Boolean(settled.ai_output.trim()) && settled.evaluator !== "rules";
  return useQuery({
    // The texts themselves would make a heavy key; the draft is a new object with each change.
    queryKey: ["estimate", numberOf(settled)],
    queryFn: ({ signal }) => api.estimate(askedFor(settled), signal),
    enabled: worth,
    gcTime: 0,
    retry: false,
  });
}

const numbers = new WeakMap<Draft, number>();
let last = 0;

function numberOf(draft: Draft): number {
  const known = numbers.get(draft);
  if (known) return known;
  last += 1;
  numbers.set(draft, last);
  return last;
}
