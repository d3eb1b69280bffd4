/** What the pages show, kept up to date while somebody looks. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import { type Connection, follow } from "@/api/follow";
import type { Changed, Verdict } from "@/api/types";
import { counted, whole } from "@/lib/format";

/** Whether what a query holds may be another after runs of these batches ended. */
export function concerns(key: readonly unknown[], changed: ReadonlySet<string>): boolean {
  const [, kind, ...named] = key;
  if (kind === "list" || kind === "series") return true;
  return named.some(
    (name) => name === "latest" || (typeof name === "string" && name && [...changed].some((id) => id.startsWith(name))),
  );
}

/** Asks again for what changed, as the server tells it. One round at a time: a slow answer is waited for. */
export function useLive(): Connection {
  const client = useQueryClient();
  const [connection, setConnection] = useState<Connection>("live");
  useEffect(() => {
    const leaving = new AbortController();
    let changed = new Set<string>();
    let everything = false;
    let busy = false;
    const refresh = async () => {
      if (busy) return;
      busy = true;
      while (changed.size || everything) {
        const [these, all] = [changed, everything];
        changed = new Set();
        everything = false;
        await client.invalidateQueries({
          queryKey: ["batches"],
          predicate: ({ queryKey }) => all || concerns(queryKey, these),
        });
      }
      busy = false;
    };
    follow(
      {
        watch: (after, signal) => api.watchBatches(after, signal),
        pause: (milliseconds) => new Promise((go) => setTimeout(go, milliseconds)),
      },
      {
        event: ({ name, data }) => {
          // Nobody is told what happened before it was watched.
          if (name === "watching") everything = true;
          else if (name === "changed") for (const id of (JSON.parse(data) as Changed).batches) changed.add(id);
          refresh();
        },
        connection: setConnection,
      },
      null,
      leaving.signal,
    ).catch(() => setConnection("lost"));
    return () => leaving.abort();
  }, [client]);
  return connection;
}

export interface Watched {
  batch_id: string;
  scenario_id: string;
  verdict: Verdict;
  runs: number;
  completed: number;
  errors: number;
  passed: number;
  running: boolean;
}

/** What there is to tell a reader who does not see the numbers change: beginnings, quarters and ends, no more. */
export function news(before: readonly Watched[], now: readonly Watched[]): string {
  const known = new Map(before.map((batch) => [batch.batch_id, batch]));
  const newest =
    before
      .map(({ batch_id }) => batch_id)
      .sort()
      .at(-1) ?? "";
  return now
    .map((batch) => {
      const earlier = known.get(batch.batch_id);
      if (!earlier && batch.batch_id < newest) return ""; // an older one, from another page or filter
      if (earlier && !earlier.running && done(earlier) === done(batch)) return "";
      if (!batch.running) return `${batch.scenario_id} has ended: ${batch.verdict}, ${passedOf(batch)}.`;
      if (!earlier) return `New: ${batch.scenario_id}, ${counted(batch.runs, "run")}.`;
      return quarter(earlier) < quarter(batch)
        ? `${batch.scenario_id}: ${whole(done(batch))} of ${counted(batch.runs, "run")}.`
        : "";
    })
    .filter(Boolean)
    .join(" ");
}

function done({ completed, errors }: Watched): number {
  return completed + errors;
}

function quarter(of: Watched): number {
  return of.runs ? Math.floor((4 * done(of)) / of.runs) : 0;
}

function passedOf({ passed, completed }: Watched): string {
  return `${whole(passed)} of ${whole(completed)} passed`;
}

/** The newest batch when this was first shown, however it is filtered: what is newer came while it was open. */
export function useNewest(rows: readonly { batch_id: string }[] | undefined, about: string): string | null {
  const [first, setFirst] = useState<{ about: string; newest: string } | null>(null);
  if (rows && first?.about !== about) setFirst({ about, newest: rows[0]?.batch_id ?? "" });
  return first?.about === about ? first.newest : null;
}

/** The last news of what is shown; `about` says what that is, and nothing is news of something else. */
export function useNews(rows: readonly Watched[] | undefined, about: string): string {
  const before = useRef<{ about: string; rows: readonly Watched[] } | null>(null);
  const [said, say] = useState("");
  useEffect(() => {
    if (!rows) return;
    const told = before.current?.about === about ? news(before.current.rows, rows) : "";
    before.current = { about, rows };
    if (told) say(told);
  }, [rows, about]);
  return said;
}
