import type { Role } from "@/api/types";

interface NavigationEntry {
  to: string;
  text: string;
  /** Who it is for; without it, for everybody. */
  role?: Role;
}

/** The entries of the sidebar, by product. */
export interface NavigationGroup {
  title: string;
  links: NavigationEntry[];
}

export const SCENARIOS = "Scenarios";

export const NAVIGATION: NavigationGroup[] = [
  {
    title: "Playbooks",
    links: [
      { to: "/", text: "Evaluate", role: "reviewer" },
      { to: "/documents", text: "Many documents" },
      { to: "/review", text: "Review", role: "reviewer" },
      { to: "/review/blind", text: "Blind review", role: "reviewer" },
      { to: "/history", text: "History" },
      { to: "/timeline", text: "Over time" },
      { to: "/playbooks", text: "Playbooks" },
      { to: "/audit", text: "Audit log" },
    ],
  },
  {
    title: SCENARIOS,
    links: [{ to: "/scenarios", text: "Batches of runs" }],
  },
];

/** The groups with the product first whose pages begin at this address: `salvo dashboard` is about scenarios. */
export function navigationFrom(home: string): NavigationGroup[] {
  const isFirst = (group: NavigationGroup) => group.links.some(({ to }) => to === home);
  return [...NAVIGATION.filter(isFirst), ...NAVIGATION.filter((group) => !isFirst(group))];
}
