import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link, useNavigate } from "react-router";
import { queries } from "@/api/queries";
import type { HistoryAsked, HistoryRow, Mode, Status } from "@/api/types";
import { Badge, Label, StateLabel } from "@/components/Badge";
import { Button, ButtonLink } from "@/components/Button";
import { Choice, Search } from "@/components/Filter";
import { PageTitle, Table, TD } from "@/components/layout";
import { Picked, pickedWith } from "@/components/Picked";
import { Seen } from "@/components/Seen";
import { Empty, Failure, Loading } from "@/components/states";
import { type Change, useFilters } from "@/lib/filters";
import { score, time } from "@/lib/format";

const LIMIT = 50;
const COLUMNS = ["Pick", "Time", "Status", "Consistency", "Mode", "Subject", "Evaluator", "Playbook"];

const STATUSES: readonly Status[] = ["ALERT", "REVIEW", "OBSERVE", "STABLE"];
const MODES: readonly Mode[] = ["full", "screening"];

const FILTERS = ["search", "subject", "status", "mode"] as const;
type Filtered = Record<(typeof FILTERS)[number], string>;
const NO_FILTERS: Filtered = { search: "", subject: "", status: "", mode: "" };

/** As the API takes them: what is not chosen is left out, and what the address made up is the API's to refuse. */
function chosen(filters: Filtered): HistoryAsked {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value));
}

export function HistoryPage() {
  const [address, go] = useFilters();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, address.get(name) ?? ""])) as Filtered;
  const offset = Number(address.get("offset")) || 0;
  const [picked, setPicked] = useState<readonly string[]>([]);
  const { data, error, refetch, isFetching } = useQuery({
    ...queries.history({ ...chosen(filters), offset, limit: LIMIT }),
    placeholderData: keepPreviousData,
    // What is under way changes by itself.
    refetchInterval: ({ state }) => (state.data?.rows.some((row) => row.state === "running") ? 2000 : false),
  });
  return (
    <>
      <PageTitle lead="Every evaluation, the newest first. Open one, or pick two to compare them.">History</PageTitle>
      <Filters of={filters} go={go} />
      <Picked of={picked} address="/compare" clear={() => setPicked([])} />
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {!data && !error ? <Loading what="the history" /> : null}
      {data && !data.rows.length ? (
        <Nothing filtered={Object.values(filters).some(Boolean)} clear={() => go(NO_FILTERS)} />
      ) : null}
      {data?.rows.length ? (
        <div aria-busy={isFetching}>
          <Evaluations rows={data.rows} picked={picked} pick={(id) => setPicked((now) => pickedWith(now, id))} />
          <div className="mt-4 flex gap-3">
            {offset > 0 ? (
              <Button onClick={() => go({ offset: String(Math.max(offset - LIMIT, 0)) })}>Newer</Button>
            ) : null}
            {data.more ? <Button onClick={() => go({ offset: String(offset + LIMIT) })}>Older</Button> : null}
          </div>
        </div>
      ) : null}
    </>
  );
}

interface FilterProps {
  of: Filtered;
  go: (change: Change) => void;
}

function Filters({ of, go }: FilterProps) {
  const { data } = useQuery(queries.subjects());
  const look = useCallback((words: string) => go({ search: words }), [go]);
  return (
    <search className="mb-4 flex flex-wrap gap-4">
      <Search placeholder="Subject, evaluator, status, playbook or id" value={of.search} change={look} />
      <Choice
        label="Subject"
        all="All subjects"
        value={of.subject}
        change={(name) => go({ subject: name })}
        of={(data ?? []).map(({ name, reports }) => ({ value: name, text: `${name} (${reports})` }))}
      />
      <Choice
        label="Status"
        all="Any status"
        value={of.status}
        change={(status) => go({ status })}
        of={STATUSES.map((name) => ({ value: name, text: name }))}
      />
      <Choice
        label="Mode"
        all="Both modes"
        value={of.mode}
        change={(mode) => go({ mode })}
        of={MODES.map((name) => ({ value: name, text: name }))}
      />
    </search>
  );
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered) {
    return (
      <Empty title="Nothing matches">
        <Button onClick={clear}>Show everything</Button>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing was evaluated yet">
      <ButtonLink to="/" look="main">
        Evaluate a text
      </ButtonLink>
    </Empty>
  );
}

interface TableProps {
  rows: readonly HistoryRow[];
  picked: readonly string[];
  pick: (id: string) => void;
}

function Evaluations({ rows, picked, pick }: TableProps) {
  const navigate = useNavigate();
  return (
    <Table label="Evaluations" columns={COLUMNS}>
      {rows.map((row) => (
        <Row key={row.id} row={row} picked={picked.includes(row.id)} pick={pick} open={(to) => navigate(to)} />
      ))}
    </Table>
  );
}

interface RowProps {
  row: HistoryRow;
  picked: boolean;
  pick: (id: string) => void;
  open: (to: string) => void;
}

function Row({ row, picked, pick, open }: RowProps) {
  const to = row.status ? `/reports/${row.id}` : `/evaluations/${row.id}`;
  return (
    // The click is for the mouse; by keyboard the link in the row does the same.
    <tr
      className={`cursor-pointer hover:bg-well ${picked ? "bg-blue-tint" : ""}`}
      onClick={(event) => {
        if (!(event.target as Element).closest("a, input, label")) open(to);
      }}
    >
      <td className={TD}>
        {row.status ? (
          <input
            type="checkbox"
            className="size-4 accent-link"
            aria-label={`Pick ${row.id} to compare`}
            checked={picked}
            onChange={() => pick(row.id)}
          />
        ) : null}
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <Link to={to} className="text-link underline">
          {time(row.created_at)}
        </Link>
      </td>
      <td className={TD}>
        <span className="flex flex-wrap gap-1.5">
          {row.status ? <Badge of={row.status} /> : <StateLabel of={row.state} />}
          {row.baseline ? <Label tone="plain">baseline</Label> : null}
          {row.incomplete ? <Label tone="amber">incomplete</Label> : null}
        </span>
      </td>
      <td className={`${TD} tabular-nums`}>{row.status ? score(row.consistency) : "–"}</td>
      <td className={TD}>{row.mode}</td>
      <td className={`${TD} min-w-44 [overflow-wrap:anywhere]`}>
        <Seen>{row.subject}</Seen>
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <Seen>{row.evaluator}</Seen>
      </td>
      <td className={`${TD} whitespace-nowrap`}>
        <Seen>{`${row.playbook_id} ${row.playbook_version}`}</Seen>
      </td>
    </tr>
  );
}
