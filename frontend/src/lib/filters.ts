import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

export type Change = Record<string, string>;

/** What a list is filtered by is in the address: it can be kept, sent and gone back to. A change leads to page one. */
export function useFilters(): [URLSearchParams, (change: Change) => void] {
  const [address, setAddress] = useSearchParams();
  // The address follows a change a moment later; a second change until then must not undo the first.
  const asked = useRef(address);
  const onTheWay = useRef(new Set<string>());
  useEffect(() => {
    const now = address.toString();
    if (onTheWay.current.has(now) && now !== asked.current.toString()) return;
    asked.current = address; // it has arrived, or somebody went elsewhere
    onTheWay.current.clear();
  }, [address]);
  const go = useCallback(
    (change: Change) => {
      const next = new URLSearchParams(asked.current);
      for (const [name, value] of Object.entries({ offset: "", ...change })) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      asked.current = next;
      onTheWay.current.add(next.toString());
      // Another page is read from its top; a filter is used where it stands.
      setAddress(next, { replace: true, preventScrollReset: !change.offset });
    },
    [setAddress],
  );
  return [address, go];
}
