import { useEffect, useRef } from "react";

interface MenuProps {
  title: string;
  onToggle?: (open: boolean) => void;
  children: React.ReactNode;
}

/** A button that opens a small panel. On a phone the panel is in the flow of the page, so that it is never cut off. */
export function Menu({ title, onToggle, children }: MenuProps) {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = () => keepWithinPage(panel.current);
    window.addEventListener("resize", place);
    return () => window.removeEventListener("resize", place);
  }, []);
  return (
    <details
      className="relative max-sm:open:w-full"
      onToggle={({ currentTarget: menu }) => {
        keepWithinPage(panel.current);
        onToggle?.(menu.open);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector("summary")?.focus();
      }}
    >
      <summary className="inline-block cursor-pointer rounded border border-edge bg-card px-3 py-1.5 hover:bg-well">
        {title}
      </summary>
      <div
        ref={panel}
        className="mt-1 space-y-3 rounded border border-edge bg-card p-4 shadow-lg sm:absolute sm:left-0 sm:z-10 sm:max-h-[70vh] sm:w-[min(30rem,85vw)] sm:overflow-y-auto"
      >
        {children}
      </div>
    </details>
  );
}

const MARGIN = 16;

/** The panel begins below its button, and moves to the left as far as it would reach beyond the page. */
function keepWithinPage(panel: HTMLElement | null): void {
  if (!panel) return;
  panel.style.left = "";
  const beyond = panel.getBoundingClientRect().right - (document.documentElement.clientWidth - MARGIN);
  if (beyond > 0 && getComputedStyle(panel).position === "absolute") panel.style.left = `${-beyond}px`;
}
