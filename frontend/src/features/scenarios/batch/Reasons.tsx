/** Why runs did not pass: failures by what they failed by, and apart from them what is not the agent's fault. */
import { useState } from "react";
import type { BatchSummary, FailureGroup, RunGroup } from "@/api/types";
import { Button } from "@/components/Button";
import { Copy } from "@/components/Copy";
import { Seen } from "@/components/Seen";
import { counted, whole } from "@/lib/format";
import { RunLink } from "../RunLink";
import { failedBy, OUTCOME_WORDS, reason } from "../words";

const FEW = 8;
const GROUPS = 8;

export function Failures({ of, completed }: { of: readonly FailureGroup[]; completed: number }) {
  if (!of.length) return <p className="text-soft">{completed ? "No failures." : "No run was completed."}</p>;
  return <Reasons tone="red" of={of.map((group) => told(failedBy(group), group))} />;
}

export function Errors({ of }: { of: BatchSummary }) {
  return <Reasons tone="amber" of={of.error_groups.map((group) => told(reason(group), group))} />;
}

export function NotMade({ of, running }: { of: BatchSummary; running: boolean }) {
  const counts = [
    of.not_run ? `${whole(of.not_run)} not run` : "",
    of.interrupted ? `${whole(of.interrupted)} interrupted` : "",
    of.missing ? `${whole(of.missing)} without a result` : "",
  ].filter(Boolean);
  const resume = `salvo run --resume ${of.batch_id}`;
  return (
    <>
      <p className="mb-2">
        Of {counted(of.runs, "run")}: {counts.join(", ")}.
      </p>
      <Reasons tone="plain" of={of.not_made.map((group) => told(whyNotMade(group), group))} unmade />
      {running ? null : (
        <p className="mt-2">
          Make them with <code>{resume}</code> <Copy text={resume} what="the command" />
        </p>
      )}
    </>
  );
}

function whyNotMade(group: RunGroup): string {
  return `${OUTCOME_WORDS[group.outcome]}: ${reason(group)}`;
}

interface Reason {
  why: string;
  count: number;
  /** The first of them. */
  ids: readonly string[];
}

function told(why: string, { count, run_ids }: { count: number; run_ids: readonly string[] }): Reason {
  return { why, count, ids: run_ids };
}

interface ReasonsProps {
  tone: "red" | "amber" | "plain";
  of: Reason[];
  /** There is nothing to look at. */
  unmade?: boolean;
}

function Reasons({ tone, of, unmade = false }: ReasonsProps) {
  const [all, setAll] = useState(false);
  const shown = all ? of : of.slice(0, GROUPS);
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
              <span className="font-semibold tabular-nums">{whole(count)} ×</span>
              <span className="foreign min-w-0 flex-1 basis-64">
                <Seen>{why}</Seen>
              </span>
            </p>
            {unmade ? null : <Runs ids={ids} count={count} />}
          </li>
        ))}
      </ul>
      {shown.length < of.length ? (
        <Button className="mt-2 text-sm" onClick={() => setAll(true)}>
          Show {whole(of.length - shown.length)} more reasons
        </Button>
      ) : null}
    </>
  );
}

function Runs({ ids, count }: { ids: readonly string[]; count: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? ids : ids.slice(0, FEW);
  return (
    <p className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-sm">
      {shown.map((id) => (
        <RunLink key={id} id={id} />
      ))}
      {shown.length < ids.length ? (
        <Button look="quiet" className="px-1 py-0 text-sm" onClick={() => setAll(true)}>
          {whole(ids.length - shown.length)} more
        </Button>
      ) : null}
      {shown.length === ids.length && count > ids.length ? (
        <span className="text-soft">and {whole(count - ids.length)} more, in the list of runs below</span>
      ) : null}
    </p>
  );
}
