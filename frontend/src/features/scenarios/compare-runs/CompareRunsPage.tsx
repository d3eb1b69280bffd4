import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { Link, useParams } from "react-router";
import { queries } from "@/api/queries";
import type { RunComparison, RunComparisonRow, RunHead, TrajectoryStep } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button, ButtonLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatScore, formatSeconds, formatTime, pluralize } from "@/lib/format";
import { OutcomeBadge } from "../Badges";
import { formatDollars, modelName } from "../format";
import { outcomeSentence } from "../labels";
import { compareRunsPath } from "../RunLink";
import { StepBody, StepHead } from "../run/Step";
import { collapseEqualRows } from "./collapseEqualRows";
import { StepDifference } from "./StepDifference";

export function CompareRunsPage() {
  const { a = "", b = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.compareRuns(a, b));
  return (
    <>
      <PageTitle lead="Step by step. Differences in ids and times are ignored.">Compare two runs</PageTitle>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the two runs" /> : null}
      {data ? <RunComparisonView key={`${a} ${b}`} comparison={data} /> : null}
    </>
  );
}

function RunComparisonView({ comparison }: { comparison: RunComparison }) {
  const firstDifference = useRef<HTMLLIElement>(null);
  const goToFirstDifference = useCallback(() => {
    const row = firstDifference.current;
    if (!row) return;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: row.offsetHeight > window.innerHeight * 0.8 ? "start" : "center" });
  }, []);
  // Scroll to the first difference once the page is rendered.
  useEffect(goToFirstDifference, [goToFirstDifference]);
  const [showAll, setShowAll] = useState(false);
  const groups = showAll
    ? comparison.steps.rows.map((row, index) => ({ from: index, rows: [row] }))
    : collapseEqualRows(comparison.steps.rows);
  const hiddenRows = comparison.steps.rows.length - groups.filter(({ rows }) => rows.length === 1).length;
  return (
    <>
      <div className="grid gap-4 md:grid-cols-2">
        <ComparedRun name="A" run={comparison.a} />
        <ComparedRun name="B" run={comparison.b} />
      </div>
      <div className="my-5 flex flex-wrap items-center gap-3">
        {comparison.steps.first_difference === null ? (
          <Notice tone="plain">The two runs took the same steps.</Notice>
        ) : (
          <>
            <p>
              The first difference is in row {comparison.steps.first_difference + 1} of {comparison.steps.rows.length}.
            </p>
            <Button onClick={goToFirstDifference}>Go to first difference</Button>
          </>
        )}
        {hiddenRows || showAll ? (
          <Button variant="text" onClick={() => setShowAll(!showAll)}>
            {showAll ? "Hide identical steps" : "Show identical steps"}
          </Button>
        ) : null}
        <ButtonLink variant="text" to={compareRunsPath(comparison.b.run_id, comparison.a.run_id)} className="ml-auto">
          Swap A and B
        </ButtonLink>
      </div>
      <ol className="space-y-3">
        {groups.map(({ from, rows }) =>
          rows.length > 1 ? (
            <li key={from} className="rounded border border-rule border-dashed px-4 py-2 text-sm text-soft">
              Rows {from + 1} to {from + rows.length}: {pluralize(rows.length, "identical step")}
            </li>
          ) : (
            rows.map((row) => (
              <StepRow
                key={from}
                row={row}
                number={from + 1}
                firstDifference={from === comparison.steps.first_difference ? firstDifference : null}
              />
            ))
          ),
        )}
      </ol>
    </>
  );
}

function ComparedRun({ name, run }: { name: string; run: RunHead }) {
  const failure = run.outcome === "passed" ? "" : outcomeSentence(run);
  return (
    <section aria-label={`Run ${name}`} className="min-w-0 rounded border border-rule bg-card p-4">
      <h2 className="mb-2 flex flex-wrap items-center gap-3 text-lg">
        <span>{name}</span> <OutcomeBadge outcome={run.outcome} />
        <Link to={`/scenarios/runs/${run.run_id}`} className="font-sans text-base text-link underline">
          run {run.number} of <VisibleText>{run.scenario_id}</VisibleText>
        </Link>
      </h2>
      {failure ? (
        <p className="foreign mb-2 line-clamp-4">
          <VisibleText>{failure}</VisibleText>
        </p>
      ) : null}
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        <VisibleText>{modelName(run)}</VisibleText> · {formatTime(run.timestamp)} · score{" "}
        {formatScore(run.weighted_score)} · cost {formatDollars(run.metrics.cost)} · latency{" "}
        {formatSeconds(run.metrics.latency)}
      </p>
    </section>
  );
}

const FIELD_LABELS: Record<string, string> = {
  kind: "kind",
  title: "name",
  text: "text",
  arguments: "arguments",
  result: "result",
  error: "error",
};

interface StepRowProps {
  row: RunComparisonRow;
  number: number;
  firstDifference: React.RefObject<HTMLLIElement | null> | null;
}

function StepRow({ row, number, firstDifference }: StepRowProps) {
  const { a, b, same, differs } = row;
  return (
    <li
      ref={firstDifference}
      tabIndex={firstDifference ? -1 : undefined}
      className={`scroll-mt-4 rounded ${same ? "" : "border-(--color-mark-deep) border-l-[0.4rem] pl-2"}`}
    >
      <p className="mb-1 flex flex-wrap items-center gap-2 text-sm text-soft">
        <span>
          Row {number}:{" "}
          {same
            ? "identical"
            : a && b
              ? `different ${differs.map((name) => FIELD_LABELS[name] ?? name).join(", ")}`
              : a
                ? "only in A"
                : "only in B"}
        </span>
        {firstDifference ? <Label tone="amber">◀ first difference</Label> : null}
      </p>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 md:grid-cols-2">
        <StepCell side="A" step={a} other={b} differs={differs} />
        <StepCell side="B" step={b} other={a} differs={differs} />
      </div>
    </li>
  );
}

interface StepCellProps {
  side: "A" | "B";
  step: TrajectoryStep | null;
  other: TrajectoryStep | null;
  differs: readonly string[];
}

function StepCell({ side, step, other, differs }: StepCellProps) {
  if (!step) {
    return (
      <div className="rounded border border-edge border-dashed px-4 py-3 text-soft">
        <span className="font-semibold">{side}</span> does not have this step
      </div>
    );
  }
  return (
    <div className="min-w-0 rounded border border-rule bg-card px-4 py-3">
      <div className="flex gap-2">
        <span className="font-semibold md:sr-only">{side}</span>
        <div className="min-w-0 flex-1">
          <StepHead step={step} />
        </div>
      </div>
      {other && differs.length ? (
        <StepDifference step={step} other={other} differs={differs} side={side} />
      ) : (
        <StepBody step={step} />
      )}
    </div>
  );
}
