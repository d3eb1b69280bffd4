import { Link } from "react-router";

/** A link to a run, labelled with its number in the batch. */
export function RunLink({ id, children }: { id: string; children?: React.ReactNode }) {
  return (
    <Link to={`/scenarios/runs/${encodeURIComponent(id)}`} className="whitespace-nowrap text-link underline">
      {children ?? `run ${runNumber(id)}`}
    </Link>
  );
}

export function compareRunsPath(a: string, b: string): string {
  return `/scenarios/runs/${encodeURIComponent(a)}/beside/${encodeURIComponent(b)}`;
}

function runNumber(id: string): string {
  const number = Number(id.slice(id.lastIndexOf("-") + 1));
  return Number.isNaN(number) ? id : String(number);
}
