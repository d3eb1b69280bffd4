/** Everything that can be gone to, by product. A product that is added later is a group that is added here. */
export interface Group {
  title: string;
  links: { to: string; text: string }[];
}

export const NAVIGATION: Group[] = [
  {
    title: "Playbooks",
    links: [
      { to: "/", text: "Evaluate" },
      { to: "/history", text: "History" },
      { to: "/timeline", text: "Over time" },
      { to: "/playbooks", text: "Playbooks" },
    ],
  },
];
