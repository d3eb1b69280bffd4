import { useLayoutEffect, useRef } from "react";

/** Call a function when its key is pressed, unless somebody is writing or a modifier is held. */
export function useKeys(isOn: boolean, keys: Record<string, () => void>): void {
  const current = useRef(keys);
  // Before the page is painted: a key is for what it shows, not for what it showed before.
  useLayoutEffect(() => {
    current.current = keys;
  });
  useLayoutEffect(() => {
    if (!isOn) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      const action = current.current[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOn]);
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isBox = target instanceof HTMLInputElement && ["checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || (!isBox && target.matches("input, textarea, select"));
}
