import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import type { IndexEntry, Outcome } from "@/api/types";
import { Button } from "@/components/Button";
import { ClickableRow } from "@/components/ClickableRow";
import { FilterSelect } from "@/components/Filter";
import { Table, TD } from "@/components/layout";
import { Pagination } from "@/components/Pagination";
import { Empty, ErrorNotice, Loading } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatCount, formatScore, formatSeconds } from "@/lib/format";
import type { FilterChange } from "@/lib/useFilters";
import { OutcomeBadge } from "../Badges";
import { formatDollars } from "../format";
import { type CauseLabels, describeNotPassed, OUTCOMES, outcomeLabel } from "../labels";
import { RunLink } from "../RunLink";

const LIMIT = 50;
const COLUMNS = ["Run", "Outcome", "Reason", "Score", "Cost", "Latency", "Tool calls", "Recorded"];

interface RunTableProps {
  batch: string;
  labels: readonly string[];
  causes: CauseLabels;
  params: URLSearchParams;
  onFilter: (change: FilterChange) => void;
}

/** The runs by number, so that new ones are added at the end and no row moves. */
export function RunTable({ batch, labels, causes, params, onFilter }: RunTableProps) {
  const outcome = (params.get("outcome") ?? "") as Outcome | "";
  const assertion = params.get("assertion") ?? "";
  const offset = Number(params.get("offset")) || 0;
  const { data, error, refetch, isFetching } = useQuery({
    ...queries.batchRuns(batch, { outcome, assertion, offset, limit: LIMIT }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <search className="mb-4 flex flex-wrap gap-4">
        <FilterSelect
          label="Outcome"
          allLabel="All outcomes"
          value={outcome}
          onChange={(value) => onFilter({ outcome: value })}
          options={OUTCOMES.map((value) => ({ value, label: outcomeLabel(value) }))}
        />
        <FilterSelect
          label="Failed assertion"
          allLabel="Any or none"
          value={assertion}
          onChange={(value) => onFilter({ assertion: value })}
          options={[...new Set(labels)].map((value) => ({ value, label: value }))}
        />
      </search>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the runs" /> : null}
      {data && !data.rows.length ? (
        outcome || assertion || offset ? (
          <Empty title="No runs match">
            <Button onClick={() => onFilter({ outcome: "", assertion: "" })}>Clear filters</Button>
          </Empty>
        ) : (
          <Empty title="No run has finished yet">Runs appear here as they finish.</Empty>
        )
      ) : null}
      {data?.rows.length ? (
        <div aria-busy={isFetching}>
          <Table label="Runs" columns={COLUMNS}>
            {data.rows.map((row) => (
              <RunRow key={row.run_id} row={row} reason={describeNotPassed(row, causes)} />
            ))}
          </Table>
          <Pagination
            offset={offset}
            limit={LIMIT}
            more={data.more}
            onChange={onFilter}
            previous="Previous"
            next="Next"
          >
            {offset > 0 || data.more ? (
              <span className="text-sm text-soft">
                {formatCount(offset + 1)} to {formatCount(offset + data.rows.length)}
              </span>
            ) : null}
          </Pagination>
        </div>
      ) : null}
    </>
  );
}

function RunRow({ row, reason }: { row: IndexEntry; reason: string }) {
  return (
    <ClickableRow to={`/scenarios/runs/${row.run_id}`}>
      <td className={TD}>
        <RunLink id={row.run_id} />
      </td>
      <td className={TD}>
        <OutcomeBadge outcome={row.outcome} />
      </td>
      <td className={`${TD} min-w-56`}>
        <span className="foreign line-clamp-3">
          <VisibleText>{reason}</VisibleText>
        </span>
      </td>
      <td className={`${TD} tabular-nums`}>{row.score === null ? "–" : formatScore(row.score)}</td>
      <td className={`${TD} tabular-nums`}>{formatDollars(row.cost)}</td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>{formatSeconds(row.latency)}</td>
      <td className={`${TD} tabular-nums`}>{formatCount(row.tool_count)}</td>
      <td className={TD}>{row.recorded ? "yes" : "no"}</td>
    </ClickableRow>
  );
}
