import { QueryClient, queryOptions } from "@tanstack/react-query";
import { api, type BatchesQuery, type RunsQuery } from "./client";
import { ApiError } from "./errors";
import type { HistoryQuery } from "./types";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the server refused it refuses again; what could not be reached may come back.
      retry: (count, fault) => !(fault instanceof ApiError) && count < 2,
      refetchOnWindowFocus: false,
    },
  },
});

export const queries = {
  about: () => queryOptions({ queryKey: ["about"], queryFn: api.about, staleTime: Number.POSITIVE_INFINITY }),
  examples: () => queryOptions({ queryKey: ["examples"], queryFn: api.examples, staleTime: Number.POSITIVE_INFINITY }),
  evaluators: () => queryOptions({ queryKey: ["evaluators"], queryFn: api.evaluators, staleTime: 600_000 }),
  playbooks: () => queryOptions({ queryKey: ["playbooks"], queryFn: api.playbooks, staleTime: 10_000 }),
  playbook: (id: string) =>
    queryOptions({ queryKey: ["playbooks", id], queryFn: () => api.playbook(id), staleTime: 600_000 }),
  evaluation: (id: string) =>
    queryOptions({ queryKey: ["evaluations", id], queryFn: () => api.evaluation(id), staleTime: 0, gcTime: 0 }),
  report: (id: string) =>
    queryOptions({ queryKey: ["reports", id], queryFn: () => api.report(id), staleTime: 60_000, gcTime: 60_000 }),
  history: (asked: HistoryQuery) =>
    queryOptions({ queryKey: ["history", asked], queryFn: () => api.history(asked), staleTime: 0 }),
  subjects: () => queryOptions({ queryKey: ["subjects"], queryFn: api.subjects, staleTime: 0 }),
  timeline: (subject: string) =>
    queryOptions({ queryKey: ["timeline", subject], queryFn: () => api.timeline(subject), staleTime: 0 }),
  compareReports: (a: string, b: string) =>
    queryOptions({ queryKey: ["compare", a, b], queryFn: () => api.compareReports(a, b), gcTime: 60_000 }),

  // Runs come while one looks; the pages are told, and ask again for what is under "batches". A run never changes.
  batches: (asked: BatchesQuery) =>
    queryOptions({ queryKey: ["batches", "list", asked], queryFn: () => api.batches(asked), staleTime: 0 }),
  series: () => queryOptions({ queryKey: ["batches", "series"], queryFn: api.series, staleTime: 0 }),
  batch: (id: string) =>
    queryOptions({ queryKey: ["batches", "one", id], queryFn: () => api.batch(id), staleTime: 0, gcTime: 60_000 }),
  batchRuns: (id: string, asked: RunsQuery) =>
    queryOptions({
      queryKey: ["batches", "runs", id, asked],
      queryFn: () => api.batchRuns(id, asked),
      staleTime: 0,
      gcTime: 60_000,
    }),
  compareBatches: (a: string, b: string, whole: boolean) =>
    queryOptions({
      queryKey: ["batches", "compare", a, b, whole],
      queryFn: () => api.compareBatches(a, b, whole),
      staleTime: 0,
      gcTime: 60_000,
    }),
  run: (id: string) => queryOptions({ queryKey: ["runs", id], queryFn: () => api.run(id), gcTime: 60_000 }),
  rawRun: (id: string) =>
    queryOptions({ queryKey: ["runs", id, "raw"], queryFn: () => api.rawRun(id), gcTime: 60_000 }),
  compareRuns: (a: string, b: string) =>
    queryOptions({ queryKey: ["runs", a, "beside", b], queryFn: () => api.compareRuns(a, b), gcTime: 60_000 }),
};
