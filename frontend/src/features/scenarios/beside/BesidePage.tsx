import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { Link, useParams } from "react-router";
import { queries } from "@/api/queries";
import type { Beside, BesideRow, RunHead, TrajectoryStep } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button, ButtonLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Failure, Loading, Notice } from "@/components/states";
import { counted, score, seconds, time } from "@/lib/format";
import { OutcomeBadge } from "../Marks";
import { besideAddress } from "../RunLink";
import { StepBody, StepHead } from "../run/Step";
import { dollars, modelName, outcomeSentence } from "../words";
import { Changed } from "./Changed";
import { folded } from "./folding";

export function BesidePage() {
  const { a = "", b = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.beside(a, b));
  return (
    <>
      <PageTitle lead="Step by step. Ids and times are no difference.">Two runs side by side</PageTitle>
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {!data && !error ? <Loading what="the two runs" /> : null}
      {data ? <Shown key={`${a} ${b}`} of={data} /> : null}
    </>
  );
}

function Shown({ of }: { of: Beside }) {
  const first = useRef<HTMLLIElement>(null);
  const jump = useCallback(() => {
    const row = first.current;
    if (!row) return;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: row.offsetHeight > window.innerHeight * 0.8 ? "start" : "center" });
  }, []);
  // Once, when it is there: what one came for. The head stays in view where it fits.
  useEffect(jump, [jump]);
  const [whole, setWhole] = useState(false);
  const parts = whole ? of.steps.rows.map((row, index) => ({ from: index, rows: [row] })) : folded(of.steps.rows);
  const left = of.steps.rows.length - parts.filter(({ rows }) => rows.length === 1).length;
  return (
    <>
      <div className="grid gap-4 md:grid-cols-2">
        <Side name="A" of={of.a} />
        <Side name="B" of={of.b} />
      </div>
      <div className="my-5 flex flex-wrap items-center gap-3">
        {of.steps.first_difference === null ? (
          <Notice tone="plain">The two went the same way: no step differs.</Notice>
        ) : (
          <>
            <p>
              They first differ in row {of.steps.first_difference + 1} of {of.steps.rows.length}.
            </p>
            <Button onClick={jump}>Go to the first difference</Button>
          </>
        )}
        {left || whole ? (
          <Button look="quiet" onClick={() => setWhole(!whole)}>
            {whole ? "Fold what is the same" : "Show what is the same"}
          </Button>
        ) : null}
        <ButtonLink look="quiet" to={besideAddress(of.b.run_id, of.a.run_id)} className="ml-auto">
          Change sides
        </ButtonLink>
      </div>
      <ol className="space-y-3">
        {parts.map(({ from, rows }) =>
          rows.length > 1 ? (
            <li key={from} className="rounded border border-rule border-dashed px-4 py-2 text-sm text-soft">
              Rows {from + 1} to {from + rows.length}: {counted(rows.length, "step")}, the same in both
            </li>
          ) : (
            rows.map((row) => (
              <Row key={from} row={row} number={from + 1} first={from === of.steps.first_difference ? first : null} />
            ))
          ),
        )}
      </ol>
    </>
  );
}

function Side({ name, of }: { name: string; of: RunHead }) {
  const not = of.outcome === "passed" ? "" : outcomeSentence(of);
  return (
    <section aria-label={`Run ${name}`} className="min-w-0 rounded border border-rule bg-card p-4">
      <h2 className="mb-2 flex flex-wrap items-center gap-3 text-lg">
        <span>{name}</span> <OutcomeBadge of={of.outcome} />
        <Link to={`/scenarios/runs/${of.run_id}`} className="font-sans text-base text-link underline">
          run {of.number} of <Seen>{of.scenario_id}</Seen>
        </Link>
      </h2>
      {not ? (
        <p className="foreign mb-2 line-clamp-4">
          <Seen>{not}</Seen>
        </p>
      ) : null}
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        <Seen>{modelName(of)}</Seen> · {time(of.timestamp)} · score {score(of.weighted_score)} · cost{" "}
        {dollars(of.metrics.cost)} · latency {seconds(of.metrics.latency)}
      </p>
    </section>
  );
}

const FIELDS: Record<string, string> = {
  kind: "what it is",
  title: "name",
  text: "text",
  arguments: "arguments",
  result: "result",
  error: "error",
};

interface RowProps {
  row: BesideRow;
  number: number;
  first: React.RefObject<HTMLLIElement | null> | null;
}

function Row({ row, number, first }: RowProps) {
  const { a, b, same, differs } = row;
  return (
    <li
      ref={first}
      tabIndex={first ? -1 : undefined}
      className={`scroll-mt-4 rounded ${same ? "" : "border-(--color-mark-deep) border-l-[0.4rem] pl-2"}`}
    >
      <p className="mb-1 flex flex-wrap items-center gap-2 text-sm text-soft">
        <span>
          Row {number}:{" "}
          {same
            ? "the same"
            : a && b
              ? `not the same: ${differs.map((name) => FIELDS[name] ?? name).join(", ")}`
              : a
                ? "only in A"
                : "only in B"}
        </span>
        {first ? <Label tone="amber">◀ first difference</Label> : null}
      </p>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 md:grid-cols-2">
        <Cell side="A" step={a} other={b} differs={differs} />
        <Cell side="B" step={b} other={a} differs={differs} />
      </div>
    </li>
  );
}

interface CellProps {
  side: "A" | "B";
  step: TrajectoryStep | null;
  other: TrajectoryStep | null;
  differs: readonly string[];
}

function Cell({ side, step, other, differs }: CellProps) {
  if (!step) {
    return (
      <div className="rounded border border-edge border-dashed px-4 py-3 text-soft">
        <span className="font-semibold">{side}</span> has no such step
      </div>
    );
  }
  return (
    <div className="min-w-0 rounded border border-rule bg-card px-4 py-3">
      <div className="flex gap-2">
        <span className="font-semibold md:sr-only">{side}</span>
        <div className="min-w-0 flex-1">
          <StepHead of={step} />
        </div>
      </div>
      {other && differs.length ? (
        <Changed step={step} other={other} differs={differs} side={side} />
      ) : (
        <StepBody of={step} />
      )}
    </div>
  );
}
