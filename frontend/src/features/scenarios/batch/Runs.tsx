import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { queries } from "@/api/queries";
import type { IndexEntry, Outcome } from "@/api/types";
import { Button } from "@/components/Button";
import { Choice } from "@/components/Filter";
import { Table, TD } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Empty, Failure, Loading } from "@/components/states";
import type { Change } from "@/lib/filters";
import { score, seconds, whole } from "@/lib/format";
import { OutcomeBadge } from "../Marks";
import { RunLink } from "../RunLink";
import { dollars, OUTCOME_WORDS, whyNot } from "../words";

const LIMIT = 50;
const COLUMNS = ["Run", "Outcome", "Not passed by", "Score", "Cost", "Latency", "Tool calls", "Recorded"];

interface Props {
  batch: string;
  labels: readonly string[];
  address: URLSearchParams;
  go: (change: Change) => void;
}

/** The runs in the order of their numbers: new ones come at the end, and nothing moves. */
export function Runs({ batch, labels, address, go }: Props) {
  const outcome = (address.get("outcome") ?? "") as Outcome | "";
  const assertion = address.get("assertion") ?? "";
  const offset = Number(address.get("offset")) || 0;
  const { data, error, refetch, isFetching } = useQuery({
    ...queries.batchRuns(batch, { outcome, assertion, offset, limit: LIMIT }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <search className="mb-4 flex flex-wrap gap-4">
        <Choice
          label="Outcome"
          all="All outcomes"
          value={outcome}
          change={(value) => go({ outcome: value })}
          of={Object.entries(OUTCOME_WORDS).map(([value, text]) => ({ value, text }))}
        />
        <Choice
          label="Failed assertion"
          all="Any or none"
          value={assertion}
          change={(value) => go({ assertion: value })}
          of={[...new Set(labels)].map((value) => ({ value, text: value }))}
        />
      </search>
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {!data && !error ? <Loading what="the runs" /> : null}
      {data && !data.rows.length ? (
        outcome || assertion || offset ? (
          <Empty title="No run matches">
            <Button onClick={() => go({ outcome: "", assertion: "" })}>Show every run</Button>
          </Empty>
        ) : (
          <Empty title="No run has ended yet">Runs appear here as they end.</Empty>
        )
      ) : null}
      {data?.rows.length ? (
        <div aria-busy={isFetching}>
          <ListOfRuns rows={data.rows} />
          <div className="mt-4 flex flex-wrap items-center gap-3">
            {offset > 0 ? (
              <Button onClick={() => go({ offset: String(Math.max(offset - LIMIT, 0)) })}>Earlier</Button>
            ) : null}
            {data.more ? <Button onClick={() => go({ offset: String(offset + LIMIT) })}>Later</Button> : null}
            {offset > 0 || data.more ? (
              <span className="text-sm text-soft">
                {whole(offset + 1)} to {whole(offset + data.rows.length)}
              </span>
            ) : null}
          </div>
        </div>
      ) : null}
    </>
  );
}

function ListOfRuns({ rows }: { rows: readonly IndexEntry[] }) {
  return (
    <Table label="Runs" columns={COLUMNS}>
      {rows.map((row) => (
        <Row key={row.run_id} row={row} />
      ))}
    </Table>
  );
}

function Row({ row }: { row: IndexEntry }) {
  const navigate = useNavigate();
  return (
    // The click is for the mouse; by keyboard the link in the row does the same.
    <tr
      className="cursor-pointer hover:bg-well"
      onClick={(event) => {
        if (!(event.target as Element).closest("a")) navigate(`/scenarios/runs/${row.run_id}`);
      }}
    >
      <td className={TD}>
        <RunLink id={row.run_id} />
      </td>
      <td className={TD}>
        <OutcomeBadge of={row.outcome} />
      </td>
      <td className={`${TD} min-w-56`}>
        <span className="foreign line-clamp-3">
          <Seen>{whyNot(row)}</Seen>
        </span>
      </td>
      <td className={`${TD} tabular-nums`}>{row.score === null ? "–" : score(row.score)}</td>
      <td className={`${TD} tabular-nums`}>{dollars(row.cost)}</td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>{seconds(row.latency)}</td>
      <td className={`${TD} tabular-nums`}>{whole(row.tool_count)}</td>
      <td className={TD}>{row.recorded ? "yes" : "no"}</td>
    </tr>
  );
}
