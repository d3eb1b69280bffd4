/** Whether this browser has to log in: the server refused a request, and no login has been noticed since. */
import { useSyncExternalStore } from "react";

let isNeeded = false;
const listeners = new Set<() => void>();

export function setLoginNeeded(value: boolean): void {
  if (isNeeded === value) return;
  isNeeded = value;
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLoginNeeded(): boolean {
  return useSyncExternalStore(subscribe, () => isNeeded);
}

/** Wait until no login is needed. Rejects when the signal aborts. */
export function waitForLogin(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (isNeeded && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener("abort", check);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const unsubscribe = subscribe(check);
    signal.addEventListener("abort", check);
    check();
  });
}
