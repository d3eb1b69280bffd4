/** The reviewer's name and settings, remembered by this browser and shared by all parts of the page. */
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { queries } from "@/api/queries";
import { useSharedReview } from "@/features/account/sharedView";

function remembered(key: string, fallback: string) {
  const listeners = new Set<() => void>();
  let value = read(key) ?? fallback;
  return {
    get: () => value,
    set: (next: string) => {
      value = next;
      write(key, next);
      for (const listener of listeners) listener();
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a browser may refuse storage
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It is then forgotten when the page is closed.
  }
}

const name = remembered("byop.reviewer", "");
const shortcuts = remembered("byop.review.shortcuts", "on");

/** The name that steps are recorded with: that of the user who is logged in, or one that is typed. */
export function useReviewerName(): [string, (name: string) => void] {
  const typed = useSyncExternalStore(name.subscribe, name.get);
  const user = useUserName();
  return [user ?? typed, name.set];
}

/** The name of the user who is logged in; null if nobody logged in with a name. */
export function useUserName(): string | null {
  const isShared = useSharedReview() !== null;
  const { data } = useQuery({ ...queries.session(), staleTime: Number.POSITIVE_INFINITY, enabled: !isShared });
  return data?.authenticated ? data.user : null;
}

/** Whether single letters are shortcuts in the queue. People who dictate must be able to turn them off. */
export function useShortcuts(): [boolean, (on: boolean) => void] {
  const value = useSyncExternalStore(shortcuts.subscribe, shortcuts.get);
  return [value === "on", (on) => shortcuts.set(on ? "on" : "off")];
}
