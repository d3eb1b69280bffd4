/** The one place that talks to the server. A key goes into a header of the one request that needs it, and stays nowhere. */
import createClient from "openapi-fetch";
import { refused } from "./errors";
import type { paths } from "./schema";
import { type StreamEvent, streamEvents } from "./stream";
import type {
  AllSeries,
  Asked,
  BatchDetail,
  BatchesCompared,
  BatchPage,
  Evaluation,
  HistoryAsked,
  Outcome,
  Verdict,
} from "./types";

const client = createClient<paths>({ baseUrl: window.location.origin, fetch: (request) => globalThis.fetch(request) });

interface Answered {
  data?: unknown;
  error?: unknown;
  response: Response;
}

async function answer<Found extends Answered>(asked: Promise<Found>): Promise<NonNullable<Found["data"]>> {
  const { data, error, response } = await asked;
  if (!response.ok) throw refused(response, error);
  return data as NonNullable<Found["data"]>;
}

function keyed(key: string): { "X-API-Key"?: string } {
  return key ? { "X-API-Key": key } : {};
}

async function events(address: string, after: string | null, signal: AbortSignal): Promise<AsyncIterable<StreamEvent>> {
  const response = await fetch(address, {
    headers: { Accept: "text/event-stream", ...(after ? { "Last-Event-ID": after } : {}) },
    cache: "no-store",
    signal,
  });
  if (!response.ok || !response.body) throw refused(response, await response.json().catch(() => undefined));
  return streamEvents(response.body);
}

/** Without what is not asked for. */
function given<Named extends object>(asked: Named): { [Name in keyof Named]?: Exclude<Named[Name], ""> } {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== "")) as Partial<Named> as never;
}

export interface BatchesAsked {
  scenario: string;
  model: string;
  verdict: Verdict | "";
  search: string;
  offset: number;
  limit: number;
}

export interface RunsAsked {
  outcome: Outcome | "";
  assertion: string;
  offset: number;
  limit: number;
}

export const api = {
  about: () => answer(client.GET("/api/about")),
  examples: () => answer(client.GET("/api/examples")),
  evaluators: () => answer(client.GET("/api/evaluators")),
  playbooks: () => answer(client.GET("/api/playbooks")),
  playbook: (id: string) =>
    answer(client.GET("/api/playbooks/{playbook_id}", { params: { path: { playbook_id: id } } })),
  validate: (playbook: string) => answer(client.POST("/api/playbooks/validate", { body: { playbook } })),
  estimate: (asked: Asked, signal: AbortSignal) => answer(client.POST("/api/estimate", { body: asked, signal })),

  readDocument: (file: File) =>
    answer(
      client.POST("/api/documents", {
        params: { query: { name: file.name } },
        body: file as unknown as string,
        bodySerializer: () => file,
        headers: { "Content-Type": "application/octet-stream" },
      }),
    ),

  start: (asked: Asked, key: string): Promise<Evaluation> =>
    answer(client.POST("/api/evaluations", { body: asked, params: { header: keyed(key) } })),
  evaluation: (id: string): Promise<Evaluation> =>
    answer(client.GET("/api/evaluations/{evaluation_id}", { params: { path: { evaluation_id: id } } })),
  cancel: (id: string): Promise<Evaluation> =>
    answer(client.POST("/api/evaluations/{evaluation_id}/cancel", { params: { path: { evaluation_id: id } } })),
  resume: (id: string, key: string): Promise<Evaluation> =>
    answer(
      client.POST("/api/evaluations/{evaluation_id}/resume", {
        params: { path: { evaluation_id: id }, header: keyed(key) },
        body: {},
      }),
    ),
  watch: (id: string, after: string | null, signal: AbortSignal) =>
    events(`/api/evaluations/${encodeURIComponent(id)}/events`, after, signal),

  report: (id: string) => answer(client.GET("/api/reports/{report_id}", { params: { path: { report_id: id } } })),
  deleteReport: (id: string) =>
    answer(client.DELETE("/api/reports/{report_id}", { params: { path: { report_id: id } } })),
  verify: (id: string) =>
    answer(client.GET("/api/reports/{report_id}/verify", { params: { path: { report_id: id } } })),
  exportAddress: (id: string, format: "json" | "html" | "md") =>
    `/api/reports/${encodeURIComponent(id)}/export?format=${format}`,
  saveBaseline: (id: string) => answer(client.POST("/api/baselines", { body: { report_id: id } })),
  clearBaseline: (id: string) =>
    answer(client.DELETE("/api/baselines/{report_id}", { params: { path: { report_id: id } } })),

  history: (asked: HistoryAsked) => answer(client.GET("/api/history", { params: { query: asked } })),
  subjects: () => answer(client.GET("/api/subjects")),
  timeline: (subject: string) => answer(client.GET("/api/timeline", { params: { query: { subject } } })),
  compare: (a: string, b: string) => answer(client.POST("/api/compare", { body: { a, b } })),

  // Where there is an interval, its type is said again: the client's own makes any array of a pair.
  batches: (asked: BatchesAsked) =>
    answer(client.GET("/api/batches", { params: { query: given(asked) } })) as Promise<BatchPage>,
  series: () => answer(client.GET("/api/batches/series")) as Promise<AllSeries>,
  batch: (id: string) =>
    answer(client.GET("/api/batches/{batch_id}", { params: { path: { batch_id: id } } })) as Promise<BatchDetail>,
  batchRuns: (id: string, asked: RunsAsked) =>
    answer(client.GET("/api/batches/{batch_id}/runs", { params: { path: { batch_id: id }, query: given(asked) } })),
  batchFile: (id: string) => `/api/batches/${encodeURIComponent(id)}/export`,
  watchBatches: (after: string | null, signal: AbortSignal) => events("/api/batches/events", after, signal),
  run: (id: string) => answer(client.GET("/api/runs/{run_id}", { params: { path: { run_id: id } } })),
  rawRun: (id: string): Promise<unknown> =>
    answer(client.GET("/api/runs/{run_id}/raw", { params: { path: { run_id: id } } })),
  rawRunFile: (id: string) => `/api/runs/${encodeURIComponent(id)}/raw`,
  beside: (a: string, b: string) =>
    answer(client.GET("/api/runs/{run_a}/beside/{run_b}", { params: { path: { run_a: a, run_b: b } } })),
  compareBatches: (a: string, b: string, whole: boolean) =>
    answer(client.POST("/api/batches/compare", { body: { a, b, whole } })) as Promise<BatchesCompared>,
};
