/** Why runs did not pass: failures by reason, and separately errors that are not the agent's fault. */
import { useState } from "react";
import type { BatchDetail, RunGroup } from "@/api/types";
import { Button } from "@/components/Button";
import { VisibleText } from "@/components/VisibleText";
import { formatCount, pluralize } from "@/lib/format";
import { Command } from "../Command";
import { type CauseLabels, describeFailure, describeReason, outcomeLabel } from "../labels";
import { RunLink } from "../RunLink";

const INITIAL_RUNS = 8;
const INITIAL_REASONS = 8;

export function Failures({ detail }: { detail: BatchDetail }) {
  const { failure_groups: groups, cause_labels: causes, summary } = detail;
  if (!groups.length) {
    return <p className="text-soft">{summary.completed ? "No failures." : "No run was completed."}</p>;
  }
  return <ReasonList tone="red" reasons={groups.map((group) => toReason(describeFailure(group, causes), group))} />;
}

export function Errors({ detail: { summary, cause_labels: causes } }: { detail: BatchDetail }) {
  return (
    <ReasonList
      tone="amber"
      reasons={summary.error_groups.map((group) => toReason(describeReason(group, causes), group))}
    />
  );
}

export function PendingRuns({ detail: { summary } }: { detail: BatchDetail }) {
  return (
    <p className="max-w-prose">
      The judges of these runs were asked through a provider’s batch API, which answers within a day. Until then the
      runs have neither passed nor failed. Fetch the votes with <Command text={`salvo collect ${summary.batch_id}`} />
    </p>
  );
}

export function SkippedRuns({ detail: { summary, is_named, running, cause_labels: causes } }: { detail: BatchDetail }) {
  const skippedCounts = [
    summary.not_run ? `${formatCount(summary.not_run)} not run` : "",
    summary.interrupted ? `${formatCount(summary.interrupted)} interrupted` : "",
    summary.missing ? `${formatCount(summary.missing)} without a result` : "",
  ].filter(Boolean);
  return (
    <>
      <p className="mb-2">
        Of {pluralize(summary.runs, "run")}: {skippedCounts.join(", ")}.
      </p>
      <ReasonList
        tone="plain"
        reasons={summary.not_made.map((group) => toReason(describeSkipped(group, causes), group))}
        withoutRuns
      />
      {running ? null : (
        <p className="mt-2">
          {is_named ? (
            <>
              Run them with the same <code>salvo run --batch</code> or <code>--shard</code> again.
            </>
          ) : (
            <>
              Run them with <Command text={`salvo run --resume ${summary.batch_id}`} />
            </>
          )}
        </p>
      )}
    </>
  );
}

function describeSkipped(group: RunGroup, causes: CauseLabels): string {
  return `${outcomeLabel(group.outcome)}: ${describeReason(group, causes)}`;
}

interface Reason {
  text: string;
  count: number;
  /** The first runs with this reason. */
  ids: readonly string[];
}

function toReason(text: string, { count, run_ids }: { count: number; run_ids: readonly string[] }): Reason {
  return { text, count, ids: run_ids };
}

interface ReasonsProps {
  tone: "red" | "amber" | "plain";
  reasons: Reason[];
  /** The runs do not exist, so there is nothing to link to. */
  withoutRuns?: boolean;
}

function ReasonList({ tone, reasons, withoutRuns = false }: ReasonsProps) {
  const [showAll, setShowAll] = useState(false);
  const visible = showAll ? reasons : reasons.slice(0, INITIAL_REASONS);
  return (
    <>
      <ul className="space-y-2">
        {visible.map(({ text, count, ids }) => (
          <li
            key={text}
            data-tone={tone}
            className="rounded border border-rule border-l-(--tone) border-l-[0.4rem] bg-card px-4 py-2"
          >
            <p className="flex flex-wrap gap-x-3">
              <span className="font-semibold tabular-nums">{formatCount(count)} ×</span>
              <span className="foreign min-w-0 flex-1 basis-64">
                <VisibleText>{text}</VisibleText>
              </span>
            </p>
            {withoutRuns ? null : <RunLinks ids={ids} count={count} />}
          </li>
        ))}
      </ul>
      {visible.length < reasons.length ? (
        <Button className="mt-2 text-sm" onClick={() => setShowAll(true)}>
          Show {formatCount(reasons.length - visible.length)} more
        </Button>
      ) : null}
    </>
  );
}

function RunLinks({ ids, count }: { ids: readonly string[]; count: number }) {
  const [showAll, setShowAll] = useState(false);
  const visible = showAll ? ids : ids.slice(0, INITIAL_RUNS);
  return (
    <p className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-sm">
      {visible.map((id) => (
        <RunLink key={id} id={id} />
      ))}
      {visible.length < ids.length ? (
        <Button variant="inline" className="text-sm" onClick={() => setShowAll(true)}>
          {formatCount(ids.length - visible.length)} more
        </Button>
      ) : null}
      {visible.length === ids.length && count > ids.length ? (
        <span className="text-soft">and {formatCount(count - ids.length)} more in the list of runs below</span>
      ) : null}
    </p>
  );
}
