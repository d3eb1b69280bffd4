/** The reviewer's name and settings, remembered by this browser and shared by all parts of the page. */
import { useSyncExternalStore } from "react";
import { useUserName } from "@/features/account/userName";

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

/** Whether single letters are shortcuts in the queue. People who dictate must be able to turn them off. */
export function useShortcuts(): [boolean, (on: boolean) => void] {
  const value = useSyncExternalStore(shortcuts.subscribe, shortcuts.get);
  return [value === "on", (on) => shortcuts.set(on ? "on" : "off")];
}
