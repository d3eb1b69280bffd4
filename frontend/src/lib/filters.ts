import { useCallback } from "react";
import { useSearchParams } from "react-router";

export type Change = Record<string, string>;

/** What a list is filtered by is in the address: it can be kept, sent and gone back to. A change leads to page one. */
export function useFilters(): [URLSearchParams, (change: Change) => void] {
  const [address, setAddress] = useSearchParams();
  const go = useCallback(
    (change: Change) =>
      setAddress(
        (now) => {
          for (const [name, value] of Object.entries({ offset: "", ...change })) {
            if (value) now.set(name, value);
            else now.delete(name);
          }
          return now;
        },
        // Another page is read from its top; a filter is used where it stands.
        { replace: true, preventScrollReset: !change.offset },
      ),
    [setAddress],
  );
  return [address, go];
}
