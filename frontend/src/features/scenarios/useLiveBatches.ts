/** Keeps the pages about batches up to date while they are open. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import { type Connection, reconnectingStream } from "@/api/reconnectingStream";
import type { ChangedBatches, Verdict } from "@/api/types";
import { formatCount, pluralize } from "@/lib/format";

/** Whether the result of a query may have changed after runs of these batches finished. */
export function isAffected(key: readonly unknown[], changed: ReadonlySet<string>): boolean {
  const [, kind, ...names] = key;
  if (kind === "list" || kind === "series") return true;
  return names.some(
    (name) => name === "latest" || (typeof name === "string" && name && [...changed].some((id) => id.startsWith(name))),
  );
}

/** Refetch what changed when the server reports it, one round at a time so that slow responses do not pile up. */
export function useLiveBatches(): Connection {
  const client = useQueryClient();
  const [connection, setConnection] = useState<Connection>("live");
  useEffect(() => {
    const controller = new AbortController();
    let changed = new Set<string>();
    let everything = false;
    let busy = false;
    const refresh = async () => {
      if (busy) return;
      busy = true;
      while (changed.size || everything) {
        const [batchIds, all] = [changed, everything];
        changed = new Set();
        everything = false;
        await client.invalidateQueries({
          queryKey: ["batches"],
          predicate: ({ queryKey }) => all || isAffected(queryKey, batchIds),
        });
      }
      busy = false;
    };
    reconnectingStream(
      {
        connect: (after, signal) => api.watchBatches(after, signal),
        pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
      },
      {
        onEvent: ({ name, data }) => {
          // Changes from before the server started watching are not reported, so refetch everything.
          if (name === "watching") everything = true;
          else if (name === "changed") for (const id of (JSON.parse(data) as ChangedBatches).batches) changed.add(id);
          refresh();
        },
        onConnection: setConnection,
      },
      null,
      controller.signal,
    ).catch(() => setConnection("lost"));
    return () => controller.abort();
  }, [client]);
  return connection;
}

export interface WatchedBatch {
  batch_id: string;
  scenario_id: string;
  verdict: Verdict;
  runs: number;
  completed: number;
  errors: number;
  passed: number;
  running: boolean;
}

/** The announcement for screen readers: batches that started, each finished quarter, and batches that finished. */
export function describeChanges(previous: readonly WatchedBatch[], current: readonly WatchedBatch[]): string {
  const previousById = new Map(previous.map((batch) => [batch.batch_id, batch]));
  const newest =
    previous
      .map(({ batch_id }) => batch_id)
      .sort()
      .at(-1) ?? "";
  return current
    .map((batch) => {
      const earlier = previousById.get(batch.batch_id);
      if (!earlier && batch.batch_id < newest) return ""; // an older batch, from another page or filter
      if (earlier && !earlier.running && finishedRuns(earlier) === finishedRuns(batch)) return "";
      if (!batch.running) return `${batch.scenario_id} finished: ${batch.verdict}, ${describePassed(batch)}.`;
      if (!earlier) return `New: ${batch.scenario_id}, ${pluralize(batch.runs, "run")}.`;
      return quarter(earlier) < quarter(batch)
        ? `${batch.scenario_id}: ${formatCount(finishedRuns(batch))} of ${pluralize(batch.runs, "run")}.`
        : "";
    })
    .filter(Boolean)
    .join(" ");
}

function finishedRuns({ completed, errors }: WatchedBatch): number {
  return completed + errors;
}

function quarter(batch: WatchedBatch): number {
  return batch.runs ? Math.floor((4 * finishedRuns(batch)) / batch.runs) : 0;
}

function describePassed({ passed, completed }: WatchedBatch): string {
  return `${formatCount(passed)} of ${formatCount(completed)} passed`;
}

/** The newest batch when the list for `key` was first shown; newer ones arrived while it was open. */
export function useNewestBatch(rows: readonly { batch_id: string }[] | undefined, key: string): string | null {
  const [first, setFirst] = useState<{ about: string; newest: string } | null>(null);
  if (rows && first?.about !== key) setFirst({ about: key, newest: rows[0]?.batch_id ?? "" });
  return first?.about === key ? first.newest : null;
}

/** The last announcement about the list for `key`. Another key starts afresh. */
export function useAnnouncement(rows: readonly WatchedBatch[] | undefined, key: string): string {
  const previous = useRef<{ about: string; rows: readonly WatchedBatch[] } | null>(null);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    if (!rows) return;
    const changes = previous.current?.about === key ? describeChanges(previous.current.rows, rows) : "";
    previous.current = { about: key, rows };
    if (changes) setAnnouncement(changes);
  }, [rows, key]);
  return announcement;
}
