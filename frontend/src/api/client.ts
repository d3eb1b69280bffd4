/** The only module that talks to the server. An API key is sent in a header of the request that needs it and never stored. */
import createClient from "openapi-fetch";
import { toApiError } from "./errors";
import { setLoginNeeded, waitForLogin } from "./login";
import type { paths } from "./schema";
import { parseEventStream, type StreamEvent } from "./sse";
import type {
  AllSeries,
  AuditQuery,
  BatchComparison,
  BatchCreate,
  BatchDetail,
  BatchMatrix,
  BatchPage,
  BatchScores,
  BlindDecisionCreate,
  BlindResultsQuery,
  BlindReviewRequest,
  Evaluation,
  EvaluationAgain,
  EvaluationCreate,
  ExampleTrialCreate,
  GridDetail,
  HistoryQuery,
  LabelCreate,
  LabelRequest,
  LabelResult,
  LoginCreate,
  OidcLoginAnswer,
  OidcLoginStart,
  Outcome,
  PasswordChange,
  PlaybookDocument,
  PlaybookSave,
  QueueQuery,
  ReviewCreate,
  ShareLinkCreate,
  ToolChoiceTable,
  TrialCreate,
  UnreadCreate,
  Verdict,
} from "./types";

const client = createClient<paths>({ baseUrl: window.location.origin, fetch: (request) => globalThis.fetch(request) });

interface ClientResult {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** The page then shows how to log in. */
function noteStatus(response: Response): void {
  if (response.status === 401) setLoginNeeded(true);
}

async function unwrap<Result extends ClientResult>(request: Promise<Result>): Promise<NonNullable<Result["data"]>> {
  const { data, error, response } = await request;
  noteStatus(response);
  if (!response.ok) throw toApiError(response, error);
  return data as NonNullable<Result["data"]>;
}

function keyHeader(key: string): { "X-API-Key"?: string } {
  return key ? { "X-API-Key": key } : {};
}

/** Open the stream, after the next login if there is no session. */
async function openEventStream(
  url: string,
  after: string | null,
  signal: AbortSignal,
): Promise<AsyncIterable<StreamEvent>> {
  const response = await fetch(url, {
    headers: { Accept: "text/event-stream", ...(after ? { "Last-Event-ID": after } : {}) },
    cache: "no-store",
    signal,
  });
  noteStatus(response);
  if (response.status === 401) {
    await waitForLogin(signal);
    return openEventStream(url, after, signal);
  }
  if (!response.ok || !response.body) throw toApiError(response, await response.json().catch(() => undefined));
  return parseEventStream(response.body);
}

/** Drop parameters with an empty value. */
function withoutEmpty<Query extends object>(query: Query): { [Name in keyof Query]?: Exclude<Query[Name], ""> } {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "")) as Partial<Query> as never;
}

export interface BatchesQuery {
  scenario: string;
  model: string;
  verdict: Verdict | "";
  search: string;
  offset: number;
  limit: number;
}

export interface RunsQuery {
  outcome: Outcome | "";
  assertion: string;
  offset: number;
  limit: number;
}

export interface DocumentFile {
  file: File;
  /** How to read a text file that is not UTF-8. Without it, the server refuses such a file. */
  encoding?: "windows-1252";
}

export const api = {
  session: () => unwrap(client.GET("/api/session")),
  loginOptions: () => unwrap(client.GET("/api/login")),
  logIn: (login: LoginCreate) => unwrap(client.POST("/api/login", { body: login })),
  beginOidcLogin: (start: OidcLoginStart) => unwrap(client.POST("/api/login/oidc", { body: start })),
  finishOidcLogin: (answer: OidcLoginAnswer) => unwrap(client.POST("/api/login/oidc/callback", { body: answer })),
  changePassword: (change: PasswordChange) => unwrap(client.POST("/api/session/password", { body: change })),
  users: () => unwrap(client.GET("/api/users")),
  logOut: () => unwrap(client.DELETE("/api/session")),

  about: () => unwrap(client.GET("/api/about")),
  examples: () => unwrap(client.GET("/api/examples")),
  evaluators: () => unwrap(client.GET("/api/evaluators")),
  playbooks: () => unwrap(client.GET("/api/playbooks")),
  playbook: (id: string) =>
    unwrap(client.GET("/api/playbooks/{playbook_id}", { params: { path: { playbook_id: id } } })),
  validatePlaybook: (playbook: string) => unwrap(client.POST("/api/playbooks/validate", { body: { playbook } })),
  /** Validate a playbook, its document or the text of its file, that is to be saved. */
  checkPlaybook: (playbook: PlaybookDocument | string, signal: AbortSignal | null = null) =>
    unwrap(client.POST("/api/playbooks/validate", { body: { playbook, to_save: true }, signal })),
  savePlaybook: (save: PlaybookSave) => unwrap(client.POST("/api/saved-playbooks", { body: save })),
  withdrawnPlaybooks: () => unwrap(client.GET("/api/saved-playbooks", { params: { query: { withdrawn: true } } })),
  playbookVersions: (id: string) =>
    unwrap(client.GET("/api/saved-playbooks/{playbook_id}", { params: { path: { playbook_id: id } } })),
  withdrawPlaybook: (id: string, by: string) =>
    unwrap(
      client.POST("/api/saved-playbooks/{playbook_id}/withdraw", {
        params: { path: { playbook_id: id } },
        body: { by },
      }),
    ),
  restorePlaybook: (id: string, by: string) =>
    unwrap(
      client.POST("/api/saved-playbooks/{playbook_id}/restore", {
        params: { path: { playbook_id: id } },
        body: { by },
      }),
    ),
  playbookDiff: (id: string, before: number, after: number) =>
    unwrap(
      client.GET("/api/saved-playbooks/{playbook_id}/diff", {
        params: { path: { playbook_id: id }, query: { before, after } },
      }),
    ),
  tryPlaybook: (trial: TrialCreate, key: string) =>
    unwrap(client.POST("/api/playbook-trials", { body: trial, params: { header: keyHeader(key) } })),
  tryPlaybookExamples: (trial: ExampleTrialCreate, key: string) =>
    unwrap(client.POST("/api/playbook-trials/examples", { body: trial, params: { header: keyHeader(key) } })),
  playbookExportUrl: (id: string, number: number) =>
    `/api/saved-playbooks/${encodeURIComponent(id)}/versions/${number}/export`,
  estimate: (request: EvaluationCreate, signal: AbortSignal) =>
    unwrap(client.POST("/api/estimate", { body: request, signal })),

  readDocument: ({ file, encoding }: DocumentFile) =>
    unwrap(
      client.POST("/api/documents", {
        params: { query: { name: file.name, ...(encoding ? { encoding } : {}) } },
        body: file as unknown as string,
        bodySerializer: () => file,
        headers: { "Content-Type": "application/octet-stream" },
      }),
    ),

  startEvaluation: (request: EvaluationCreate, key: string): Promise<Evaluation> =>
    unwrap(client.POST("/api/evaluations", { body: request, params: { header: keyHeader(key) } })),
  evaluation: (id: string): Promise<Evaluation> =>
    unwrap(client.GET("/api/evaluations/{evaluation_id}", { params: { path: { evaluation_id: id } } })),
  evaluateAgain: (id: string, judge: EvaluationAgain, key: string): Promise<Evaluation> =>
    unwrap(
      client.POST("/api/evaluations/{evaluation_id}/again", {
        params: { path: { evaluation_id: id }, header: keyHeader(key) },
        body: judge,
      }),
    ),
  judges: (id: string) =>
    unwrap(client.GET("/api/reports/{report_id}/judges", { params: { path: { report_id: id } } })),
  cancelEvaluation: (id: string): Promise<Evaluation> =>
    unwrap(client.POST("/api/evaluations/{evaluation_id}/cancel", { params: { path: { evaluation_id: id } } })),
  resumeEvaluation: (id: string, key: string): Promise<Evaluation> =>
    unwrap(
      client.POST("/api/evaluations/{evaluation_id}/resume", {
        params: { path: { evaluation_id: id }, header: keyHeader(key) },
        body: {},
      }),
    ),
  watchEvaluation: (id: string, after: string | null, signal: AbortSignal) =>
    openEventStream(`/api/evaluations/${encodeURIComponent(id)}/events`, after, signal),

  report: (id: string) => unwrap(client.GET("/api/reports/{report_id}", { params: { path: { report_id: id } } })),
  review: (id: string) =>
    unwrap(client.GET("/api/reports/{report_id}/review", { params: { path: { report_id: id } } })),
  addReviewEvent: (id: string, step: ReviewCreate) =>
    unwrap(client.POST("/api/reports/{report_id}/review", { params: { path: { report_id: id } }, body: step })),
  blindSeries: () => unwrap(client.GET("/api/blind-reviews")),
  nextBlindAssignment: (request: BlindReviewRequest) =>
    unwrap(client.POST("/api/blind-reviews/next", { body: request })),
  addBlindDecision: (decision: BlindDecisionCreate) => unwrap(client.POST("/api/blind-reviews", { body: decision })),
  blindResults: (query: BlindResultsQuery) => unwrap(client.GET("/api/blind-reviews/results", { params: { query } })),
  shareLinks: (id: string) =>
    unwrap(client.GET("/api/reports/{report_id}/share-links", { params: { path: { report_id: id } } })),
  createShareLink: (id: string, link: ShareLinkCreate) =>
    unwrap(client.POST("/api/reports/{report_id}/share-links", { params: { path: { report_id: id } }, body: link })),
  revokeShareLink: (id: string, linkId: string) =>
    unwrap(
      client.DELETE("/api/reports/{report_id}/share-links/{link_id}", {
        params: { path: { report_id: id, link_id: linkId } },
      }),
    ),
  sharedReport: (token: string) =>
    unwrap(client.GET("/api/shared/report", { params: { header: { "X-Share-Token": token } } })),
  /** The file of a shared report. It is fetched, because the address of a download would have to contain the token. */
  sharedExport: (token: string, format: "json" | "html" | "md"): Promise<Blob> =>
    unwrap(
      client.GET("/api/shared/export", {
        params: { header: { "X-Share-Token": token }, query: { format } },
        parseAs: "blob",
      }),
    ) as Promise<Blob>,
  reviewQueue: (query: QueueQuery) => unwrap(client.GET("/api/review-queue", { params: { query } })),
  reportExportUrl: (id: string, format: "json" | "html" | "md", signed = false) =>
    `/api/reports/${encodeURIComponent(id)}/export?format=${format}${signed ? "&signed=true" : ""}`,
  auditLog: (query: AuditQuery) => unwrap(client.GET("/api/audit-log", { params: { query: withoutEmpty(query) } })),
  verifyReport: (id: string) =>
    unwrap(client.GET("/api/reports/{report_id}/verify", { params: { path: { report_id: id } } })),
  verifyEverything: () => unwrap(client.GET("/api/verify")),
  signingKey: () => unwrap(client.GET("/api/signing-key")),
  saveBaseline: (id: string, reason: string) =>
    unwrap(client.POST("/api/baselines", { body: { report_id: id, reason } })),
  clearBaseline: (id: string) =>
    unwrap(client.DELETE("/api/baselines/{report_id}", { params: { path: { report_id: id } } })),

  createDocumentBatch: (batch: BatchCreate) => unwrap(client.POST("/api/document-batches", { body: batch })),
  documentBatches: (query: { offset: number; limit: number }) =>
    unwrap(client.GET("/api/document-batches", { params: { query } })),
  documentBatch: (id: string): Promise<BatchMatrix> =>
    unwrap(client.GET("/api/document-batches/{batch_id}", { params: { path: { batch_id: id } } })),
  addUnreadDocument: (id: string, unread: UnreadCreate) =>
    unwrap(
      client.POST("/api/document-batches/{batch_id}/unread", { params: { path: { batch_id: id } }, body: unread }),
    ),
  cancelDocumentBatch: (id: string): Promise<BatchMatrix> =>
    unwrap(client.POST("/api/document-batches/{batch_id}/cancel", { params: { path: { batch_id: id } } })),
  resumeDocumentBatch: (id: string, key: string): Promise<BatchMatrix> =>
    unwrap(
      client.POST("/api/document-batches/{batch_id}/resume", {
        params: { path: { batch_id: id }, header: keyHeader(key) },
      }),
    ),
  deleteDocumentBatch: (id: string) =>
    unwrap(client.DELETE("/api/document-batches/{batch_id}", { params: { path: { batch_id: id } } })),
  documentBatchExportUrl: (id: string, format: "csv" | "json" | "html") =>
    `/api/document-batches/${encodeURIComponent(id)}/export?format=${format}`,
  deleteReport: (id: string) =>
    unwrap(client.DELETE("/api/reports/{report_id}", { params: { path: { report_id: id } } })),

  history: (query: HistoryQuery) => unwrap(client.GET("/api/history", { params: { query: query } })),
  subjects: () => unwrap(client.GET("/api/subjects")),
  timeline: (subject: string) => unwrap(client.GET("/api/timeline", { params: { query: { subject } } })),
  compareReports: (a: string, b: string) => unwrap(client.POST("/api/compare", { body: { a, b } })),

  // Responses with an interval need a cast: the client's inferred type turns the pair into an array.
  batches: (query: BatchesQuery) =>
    unwrap(client.GET("/api/batches", { params: { query: withoutEmpty(query) } })) as Promise<BatchPage>,
  series: () => unwrap(client.GET("/api/batches/series")) as Promise<AllSeries>,
  batch: (id: string) =>
    unwrap(client.GET("/api/batches/{batch_id}", { params: { path: { batch_id: id } } })) as Promise<BatchDetail>,
  grid: (id: string) =>
    unwrap(client.GET("/api/batches/{batch_id}/grid", { params: { path: { batch_id: id } } })) as Promise<GridDetail>,
  scores: (id: string) =>
    unwrap(
      client.GET("/api/batches/{batch_id}/scores", { params: { path: { batch_id: id } } }),
    ) as Promise<BatchScores>,
  toolChoices: (id: string) =>
    unwrap(
      client.GET("/api/batches/{batch_id}/choices", { params: { path: { batch_id: id } } }),
    ) as Promise<ToolChoiceTable>,
  batchRuns: (id: string, query: RunsQuery) =>
    unwrap(
      client.GET("/api/batches/{batch_id}/runs", { params: { path: { batch_id: id }, query: withoutEmpty(query) } }),
    ),
  labels: (id: string) =>
    unwrap(
      client.GET("/api/batches/{batch_id}/labels", { params: { path: { batch_id: id } } }),
    ) as Promise<LabelResult | null>,
  nextLabel: (id: string, request: LabelRequest) =>
    unwrap(client.POST("/api/batches/{batch_id}/labels/next", { params: { path: { batch_id: id } }, body: request })),
  addLabel: (id: string, label: LabelCreate) =>
    unwrap(client.POST("/api/batches/{batch_id}/labels", { params: { path: { batch_id: id } }, body: label })),
  batchExportUrl: (id: string) => `/api/batches/${encodeURIComponent(id)}/export`,
  watchBatches: (after: string | null, signal: AbortSignal) => openEventStream("/api/batches/events", after, signal),
  run: (id: string) => unwrap(client.GET("/api/runs/{run_id}", { params: { path: { run_id: id } } })),
  rawRun: (id: string): Promise<unknown> =>
    unwrap(client.GET("/api/runs/{run_id}/raw", { params: { path: { run_id: id } } })),
  rawRunUrl: (id: string) => `/api/runs/${encodeURIComponent(id)}/raw`,
  compareRuns: (a: string, b: string) =>
    unwrap(client.GET("/api/runs/{run_a}/beside/{run_b}", { params: { path: { run_a: a, run_b: b } } })),
  compareBatches: (a: string, b: string, allScenarios: boolean) =>
    unwrap(client.POST("/api/batches/compare", { body: { a, b, whole: allScenarios } })) as Promise<BatchComparison>,
};
