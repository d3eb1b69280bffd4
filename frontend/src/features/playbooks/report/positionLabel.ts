import type { Location } from "@/api/types";

/** Where a passage is: heading, paragraph or table cell, and page, as far as its file states them, and the line. */
export function positionLabel({ position, line }: Location): string {
  const parts: string[] = [];
  if (position?.heading && !position.heading.startsWith("withheld:"))
    parts.push(/^\d/.test(position.heading) ? `Section ${position.heading}` : `“${position.heading}”`);
  if (position?.table) parts.push(`table ${position.table}, row ${position.row}, column ${position.column}`);
  else if (position?.paragraph) parts.push(`paragraph ${position.paragraph}`);
  if (position?.page) parts.push(`page ${position.page}`);
  return [...parts, `line ${line}`].join(", ");
}
