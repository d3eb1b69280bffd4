import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const THEMES: Theme[] = ["system", "light", "dark"];
const listeners = new Set<() => void>();

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // Storage may be forbidden; the choice then lasts until the page is reloaded.
  }
  for (const listener of listeners) listener();
}

/** The current theme, and a function that switches to the next one. */
export function useTheme(): { theme: Theme; next: () => void } {
  const theme = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentTheme);
  const next = () => applyTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme);
  return { theme, next };
}
