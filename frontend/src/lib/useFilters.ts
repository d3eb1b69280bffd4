import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

export type FilterChange = Record<string, string>;

/** The filters of a list, kept in the URL so that they can be bookmarked and shared. A change returns to page one. */
export function useFilters(): [URLSearchParams, (change: FilterChange) => void] {
  const [params, setParams] = useSearchParams();
  const latest = useRef(params); // several changes within one event must all be kept
  useEffect(() => {
    latest.current = params;
  }, [params]);
  const update = useCallback(
    (change: FilterChange) => {
      const next = new URLSearchParams(latest.current);
      for (const [name, value] of Object.entries({ offset: "", ...change })) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      latest.current = next;
      setParams(next, {
        replace: true,
        preventScrollReset: !change.offset, // scroll to the top for another page of results, but not for a filter
        flushSync: true, // as a transition, a clicked checkbox would first fall back to what it was
      });
    },
    [setParams],
  );
  return [params, update];
}
