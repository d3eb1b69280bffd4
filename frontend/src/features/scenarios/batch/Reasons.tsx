/** Why runs did not pass: failures by what they failed by, and apart from them what is not the agent's fault. */
import { useState } from "react";
import type { BatchSummary, FailureGroup, RunGroup } from "@/api/types";
import { Button } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { VisibleText } from "@/components/VisibleText";
import { formatCount, pluralize } from "@/lib/format";
import { describeFailure, describeReason, OUTCOME_LABELS } from "../labels";
import { RunLink } from "../RunLink";

const INITIAL_RUNS = 8;
const INITIAL_REASONS = 8;

export function Failures({ groups, completed }: { groups: readonly FailureGroup[]; completed: number }) {
  if (!groups.length) return <p className="text-soft">{completed ? "No failures." : "No run was completed."}</p>;
  return <ReasonList tone="red" reasons={groups.map((group) => toReason(describeFailure(group), group))} />;
}

export function Errors({ summary }: { summary: BatchSummary }) {
  return (
    <ReasonList tone="amber" reasons={summary.error_groups.map((group) => toReason(describeReason(group), group))} />
  );
}

export function SkippedRuns({ summary, running }: { summary: BatchSummary; running: boolean }) {
  const skippedCounts = [
    summary.not_run ? `${formatCount(summary.not_run)} not run` : "",
    summary.interrupted ? `${formatCount(summary.interrupted)} interrupted` : "",
    summary.missing ? `${formatCount(summary.missing)} without a result` : "",
  ].filter(Boolean);
  const resume = `salvo run --resume ${summary.batch_id}`;
  return (
    <>
      <p className="mb-2">
        Of {pluralize(summary.runs, "run")}: {skippedCounts.join(", ")}.
      </p>
      <ReasonList
        tone="plain"
        reasons={summary.not_made.map((group) => toReason(describeSkipped(group), group))}
        withoutRuns
      />
      {running ? null : (
        <p className="mt-2">
          Make them with <code>{resume}</code> <CopyButton text={resume} label="the command" />
        </p>
      )}
    </>
  );
}

function describeSkipped(group: RunGroup): string {
  return `${OUTCOME_LABELS[group.outcome]}: ${describeReason(group)}`;
}

interface Reason {
  why: string;
  count: number;
  /** The first of them. */
  ids: readonly string[];
}

function toReason(why: string, { count, run_ids }: { count: number; run_ids: readonly string[] }): Reason {
  return { why, count, ids: run_ids };
}

interface ReasonsProps {
  tone: "red" | "amber" | "plain";
  reasons: Reason[];
  /** There is nothing to look at. */
  withoutRuns?: boolean;
}

function ReasonList({ tone, reasons, withoutRuns = false }: ReasonsProps) {
  const [all, setAll] = useState(false);
  const shown = all ? reasons : reasons.slice(0, INITIAL_REASONS);
  return (
    <>
      <ul className="space-y-2">
        {shown.map(({ why, count, ids }) => (
          <li
            key={why}
            data-tone={tone}
            className="rounded border border-rule border-l-(--tone) border-l-[0.4rem] bg-card px-4 py-2"
          >
            <p className="flex flex-wrap gap-x-3">
              <span className="font-semibold tabular-nums">{formatCount(count)} ×</span>
              <span className="foreign min-w-0 flex-1 basis-64">
                <VisibleText>{why}</VisibleText>
              </span>
            </p>
            {withoutRuns ? null : <RunLinks ids={ids} count={count} />}
          </li>
        ))}
      </ul>
      {shown.length < reasons.length ? (
        <Button className="mt-2 text-sm" onClick={() => setAll(true)}>
          Show {formatCount(reasons.length - shown.length)} more reasons
        </Button>
      ) : null}
    </>
  );
}

function RunLinks({ ids, count }: { ids: readonly string[]; count: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? ids : ids.slice(0, INITIAL_RUNS);
  return (
    <p className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-sm">
      {shown.map((id) => (
        <RunLink key={id} id={id} />
      ))}
      {shown.length < ids.length ? (
        <Button variant="text" className="px-1 py-0 text-sm" onClick={() => setAll(true)}>
          {formatCount(ids.length - shown.length)} more
        </Button>
      ) : null}
      {shown.length === ids.length && count > ids.length ? (
        <span className="text-soft">and {formatCount(count - ids.length)} more, in the list of runs below</span>
      ) : null}
    </p>
  );
}
