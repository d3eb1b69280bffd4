import { QueryClient, queryOptions } from "@tanstack/react-query";
import { api, type BatchesQuery, type RunsQuery } from "./client";
import { ApiError } from "./errors";
import type { AuditQuery, BlindResultsQuery, HistoryQuery, QueueQuery } from "./types";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // An error response will not change; a server that could not be reached may come back.
      retry: (count, error) => !(error instanceof ApiError) && count < 2,
      refetchOnWindowFocus: false,
    },
  },
});

export const queries = {
  session: () => queryOptions({ queryKey: ["session"], queryFn: api.session, staleTime: 0, gcTime: 0 }),
  loginOptions: () => queryOptions({ queryKey: ["login"], queryFn: api.loginOptions, staleTime: 0 }),
  users: () => queryOptions({ queryKey: ["users"], queryFn: api.users, staleTime: 0 }),
  about: () => queryOptions({ queryKey: ["about"], queryFn: api.about, staleTime: Number.POSITIVE_INFINITY }),
  examples: () => queryOptions({ queryKey: ["examples"], queryFn: api.examples, staleTime: Number.POSITIVE_INFINITY }),
  evaluators: () => queryOptions({ queryKey: ["evaluators"], queryFn: api.evaluators, staleTime: 600_000 }),
  playbooks: () => queryOptions({ queryKey: ["playbooks"], queryFn: api.playbooks, staleTime: 10_000 }),
  playbook: (id: string) =>
    queryOptions({ queryKey: ["playbooks", "one", id], queryFn: () => api.playbook(id), staleTime: 10_000 }),
  withdrawnPlaybooks: () =>
    queryOptions({ queryKey: ["playbooks", "withdrawn"], queryFn: api.withdrawnPlaybooks, staleTime: 0 }),
  playbookVersions: (id: string) =>
    queryOptions({ queryKey: ["playbooks", "versions", id], queryFn: () => api.playbookVersions(id), staleTime: 0 }),
  playbookDiff: (id: string, before: number, after: number) =>
    queryOptions({
      queryKey: ["playbooks", "diff", id, before, after],
      queryFn: () => api.playbookDiff(id, before, after),
    }),
  // Another judge of the same text may still be at work.
  judges: (id: string) =>
    queryOptions({ queryKey: ["judges", id], queryFn: () => api.judges(id), staleTime: 0, refetchInterval: 15_000 }),
  evaluation: (id: string) =>
    queryOptions({ queryKey: ["evaluations", id], queryFn: () => api.evaluation(id), staleTime: 0, gcTime: 0 }),
  report: (id: string) =>
    queryOptions({ queryKey: ["reports", id], queryFn: () => api.report(id), staleTime: 60_000, gcTime: 60_000 }),
  // Somebody else may review the same report at this moment.
  review: (id: string) =>
    queryOptions({ queryKey: ["review", id], queryFn: () => api.review(id), staleTime: 0, refetchInterval: 15_000 }),
  shareLinks: (id: string) =>
    queryOptions({ queryKey: ["share-links", id], queryFn: () => api.shareLinks(id), staleTime: 0 }),
  sharedReport: (token: string) =>
    queryOptions({ queryKey: ["shared", token], queryFn: () => api.sharedReport(token), gcTime: 0 }),
  reviewQueue: (query: QueueQuery) =>
    queryOptions({ queryKey: ["review-queue", query], queryFn: () => api.reviewQueue(query), staleTime: 0 }),
  blindSeries: () => queryOptions({ queryKey: ["blind-reviews", "series"], queryFn: api.blindSeries, staleTime: 0 }),
  // Nothing that was fetched for one reviewer is shown to another.
  blindResults: (query: BlindResultsQuery) =>
    queryOptions({
      queryKey: ["blind-reviews", "results", query],
      queryFn: () => api.blindResults(query),
      staleTime: 0,
      gcTime: 0,
    }),
  auditLog: (query: AuditQuery) =>
    queryOptions({ queryKey: ["audit-log", query], queryFn: () => api.auditLog(query), staleTime: 0 }),
  signingKey: () => queryOptions({ queryKey: ["signing-key"], queryFn: api.signingKey, staleTime: 60_000 }),
  history: (query: HistoryQuery) =>
    queryOptions({ queryKey: ["history", query], queryFn: () => api.history(query), staleTime: 0 }),
  documentBatches: (query: { offset: number; limit: number }) =>
    queryOptions({
      queryKey: ["document-batches", "list", query],
      queryFn: () => api.documentBatches(query),
      staleTime: 0,
    }),
  documentBatch: (id: string) =>
    queryOptions({ queryKey: ["document-batches", "one", id], queryFn: () => api.documentBatch(id), staleTime: 0 }),
  subjects: () => queryOptions({ queryKey: ["subjects"], queryFn: api.subjects, staleTime: 0 }),
  timeline: (subject: string) =>
    queryOptions({ queryKey: ["timeline", subject], queryFn: () => api.timeline(subject), staleTime: 0 }),
  compareReports: (a: string, b: string) =>
    queryOptions({ queryKey: ["compare", a, b], queryFn: () => api.compareReports(a, b), gcTime: 60_000 }),

  // New runs arrive while a page is open; useLiveBatches then invalidates what is under "batches". A run never changes.
  batches: (query: BatchesQuery) =>
    queryOptions({ queryKey: ["batches", "list", query], queryFn: () => api.batches(query), staleTime: 0 }),
  /** Whether there are any. */
  anyBatch: () => queries.batches({ scenario: "", model: "", verdict: "", search: "", offset: 0, limit: 1 }),
  series: () => queryOptions({ queryKey: ["batches", "series"], queryFn: api.series, staleTime: 0 }),
  batch: (id: string) =>
    queryOptions({ queryKey: ["batches", "one", id], queryFn: () => api.batch(id), staleTime: 0, gcTime: 60_000 }),
  grid: (id: string) =>
    queryOptions({ queryKey: ["batches", "grid", id], queryFn: () => api.grid(id), staleTime: 0, gcTime: 60_000 }),
  scores: (id: string) =>
    queryOptions({ queryKey: ["batches", "scores", id], queryFn: () => api.scores(id), staleTime: 0, gcTime: 60_000 }),
  toolChoices: (id: string) =>
    queryOptions({
      queryKey: ["batches", "choices", id],
      queryFn: () => api.toolChoices(id),
      staleTime: 0,
      gcTime: 60_000,
    }),
  labels: (id: string) =>
    queryOptions({ queryKey: ["batches", "labels", id], queryFn: () => api.labels(id), staleTime: 0, gcTime: 60_000 }),
  batchRuns: (id: string, query: RunsQuery) =>
    queryOptions({
      queryKey: ["batches", "runs", id, query],
      queryFn: () => api.batchRuns(id, query),
      staleTime: 0,
      gcTime: 60_000,
    }),
  compareBatches: (a: string, b: string, allScenarios: boolean) =>
    queryOptions({
      queryKey: ["batches", "compare", a, b, allScenarios],
      queryFn: () => api.compareBatches(a, b, allScenarios),
      staleTime: 0,
      gcTime: 60_000,
    }),
  run: (id: string) => queryOptions({ queryKey: ["runs", id], queryFn: () => api.run(id), gcTime: 60_000 }),
  rawRun: (id: string) =>
    queryOptions({ queryKey: ["runs", id, "raw"], queryFn: () => api.rawRun(id), gcTime: 60_000 }),
  compareRuns: (a: string, b: string) =>
    queryOptions({ queryKey: ["runs", a, "beside", b], queryFn: () => api.compareRuns(a, b), gcTime: 60_000 }),
};
