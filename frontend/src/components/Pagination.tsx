import type { FilterChange } from "@/lib/useFilters";
import { Button } from "./Button";

interface PaginationProps {
  offset: number;
  limit: number;
  more: boolean;
  onChange: (change: FilterChange) => void;
  previous?: string;
  next?: string;
  children?: React.ReactNode;
}

/** Buttons to the previous and the next page of a list. */
export function Pagination({
  offset,
  limit,
  more,
  onChange,
  previous = "Newer",
  next = "Older",
  children,
}: PaginationProps) {
  return (
    <div className="mt-4 flex flex-wrap items-center gap-3">
      {offset > 0 ? (
        <Button onClick={() => onChange({ offset: String(Math.max(offset - limit, 0)) })}>{previous}</Button>
      ) : null}
      {more ? <Button onClick={() => onChange({ offset: String(offset + limit) })}>{next}</Button> : null}
      {children}
    </div>
  );
}
