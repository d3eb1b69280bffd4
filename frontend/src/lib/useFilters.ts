import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

export type FilterChange = Record<string, string>;

/** The filters of a list, kept in the URL so that they can be bookmarked and shared. A change returns to page one. */
export function useFilters(): [URLSearchParams, (change: FilterChange) => void] {
  const [params, setParams] = useSearchParams();
  // The URL is updated asynchronously; a second change before that must not undo the first.
  const pending = useRef(params);
  const inFlight = useRef(new Set<string>());
  useEffect(() => {
    const current = params.toString();
    if (inFlight.current.has(current) && current !== pending.current.toString()) return;
    pending.current = params; // the update arrived, or the user navigated elsewhere
    inFlight.current.clear();
  }, [params]);
  const update = useCallback(
    (change: FilterChange) => {
      const next = new URLSearchParams(pending.current);
      for (const [name, value] of Object.entries({ offset: "", ...change })) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      pending.current = next;
      inFlight.current.add(next.toString());
      // Scroll to the top for another page of results, but not for a filter.
      setParams(next, { replace: true, preventScrollReset: !change.offset });
    },
    [setParams],
  );
  return [params, update];
}
