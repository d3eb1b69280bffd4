import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

export type FilterChange = Record<string, string>;

/** What a list is filtered by is in the address: it can be kept, sent and gone back to. A change leads to page one. */
export function useFilters(): [URLSearchParams, (change: FilterChange) => void] {
  const [params, setParams] = useSearchParams();
  // The address follows a change a moment later; a second change until then must not undo the first.
  const pending = useRef(params);
  const inFlight = useRef(new Set<string>());
  useEffect(() => {
    const current = params.toString();
    if (inFlight.current.has(current) && current !== pending.current.toString()) return;
    pending.current = params; // it has arrived, or somebody went elsewhere
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
      // Another page is read from its top; a filter is used where it stands.
      setParams(next, { replace: true, preventScrollReset: !change.offset });
    },
    [setParams],
  );
  return [params, update];
}
