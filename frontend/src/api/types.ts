/** The API's types under the names that the page uses. They are generated, never written by hand. */
import type { components, operations } from "./schema";

type Schemas = components["schemas"];

/** The filters and the page of the audit log. */
export type AuditQuery = NonNullable<operations["listAuditLog"]["parameters"]["query"]>;
export type AuditLogRow = Schemas["AuditLogRow"];
export type EvaluationCreate = Schemas["EvaluationCreate"];
export type CheckResult = Schemas["CheckResult"];
export type Citation = Schemas["Citation"];
export type CheckLabels = Schemas["CheckLabels"];
export type ComparedReports = Schemas["ReportComparisonDetail"];
export type BatchCreate = Schemas["BatchCreate"];
export type BatchMatrix = Schemas["BatchMatrix"];
export type DocumentRow = Schemas["DocumentRow"];
export type UnreadCreate = Schemas["UnreadCreate"];
export type DocumentText = Schemas["DocumentText"];
export type Evaluation = Schemas["Evaluation"];
export type Evaluators = Schemas["EvaluatorList"];
export type Example = Schemas["Example"];
/** The filters and the page of the history. */
export type HistoryQuery = NonNullable<operations["listHistory"]["parameters"]["query"]>;
export type HistoryRow = Schemas["HistoryRow"];
export type JobState = Schemas["JobState"];
export type Location = Schemas["Location"];
export type Mode = Schemas["Mode"];
export type PlaybookFindings = Schemas["PlaybookFindings"];
/** A playbook as JSON. */
export type PlaybookDocument = Record<string, unknown>;
export type PlaybookProblem = Schemas["PlaybookProblem"];
export type PlaybookSave = Schemas["PlaybookSave"];
export type PlaybookChange = Schemas["PlaybookChange"];
export type TrialCreate = Schemas["TrialCreate"];
export type ExampleTrialCreate = Schemas["ExampleTrialCreate"];
export type TrialResult = Schemas["TrialResult"];
export type ExampleTrialResult = Schemas["ExampleTrialResult"];
export type TriedCheck = Schemas["TriedCheck"];
export type SavedVersion = Schemas["SavedVersion"];
export type PlaybookEntry = Schemas["PlaybookSummary"];
export type Problem = Schemas["ErrorDetail"];
export type RawRun = Schemas["RawRun"];
export type CheckReview = Schemas["CheckReview"];
export type FindingReview = Schemas["FindingReview"];
export type QueueItem = Schemas["QueueItem"];
/** The filters and the page of the review queue. */
export type QueueQuery = NonNullable<operations["listReviewQueue"]["parameters"]["query"]>;
export type Report = Schemas["Report"];
export type ReportReview = Schemas["ReportReview"];
export type ReviewCreate = Schemas["ReviewCreate"];
export type ReviewEvent = Schemas["ReviewEvent"];
export type ReviewStep = Schemas["ReviewStep"];
export type ReportLabels = Schemas["ReportLabels"];
export type Result = Schemas["Result"];
export type Severity = Schemas["Severity"];
export type ShownStatus = Schemas["ShownStatus"];
export type Status = Schemas["Status"];
export type StoredReport = Schemas["StoredReport"];
export type TimelineReport = Schemas["TimelineReport"];
export type VerdictReason = Schemas["VerdictReason"];
export type Verification = Schemas["Verification"];
export type VoteEvent = Schemas["VoteSummary"];
export type RetryWait = Schemas["RetryNotice"];
export type OpenCalls = Schemas["OpenCallsNotice"];

export type AssertionDifference = Schemas["AssertionDifference"];
export type AssertionSummary = Schemas["AssertionSummary"];
export type Batch = Schemas["Batch"];
export type BatchDetail = Schemas["BatchDetail"];
export type BatchPage = Schemas["BatchPage"];
export type BatchRow = Schemas["ListedBatch"];
export type BatchScore = Schemas["ScoreDetail"];
export type BatchScores = Schemas["BatchScores"];
export type BatchSummary = Schemas["BatchSummary"];
export type BatchComparison = Schemas["ComparisonDocument"];
export type RunComparison = Schemas["RunComparison"];
export type RunComparisonRow = Schemas["AlignedRow"];
export type Branch = Schemas["Branch"];
export type Cause = Schemas["Cause"];
export type ChosenTool = Schemas["ChosenTool"];
export type ChangedBatches = Schemas["BatchesChangedEvent"];
export type Cost = Schemas["Cost"];
export type EvalResult = Schemas["EvalResult"];
export type Evidence = Schemas["GateEvidence"];
export type GridCell = Schemas["GridCell"];
export type GridDetail = Schemas["GridDetail"];
export type GridVariant = Schemas["Variant"];
export type FailureGroup = Schemas["FailureGroup"];
export type BlindQuestion = Schemas["BlindQuestion"];
export type LabelAnswer = Schemas["LabelAnswer"];
export type LabelCreate = Schemas["LabelCreate"];
export type LabelProgress = Schemas["LabelProgress"];
export type LabelRequest = Schemas["LabelRequest"];
export type LabelResult = Schemas["LabelResult"];
export type IndexEntry = Schemas["IndexEntry"];
export type Interval = Schemas["Interval"];
export type BatchStats = Schemas["BatchStats"];
export type Outcome = Schemas["Outcome"];
export type Divergence = Schemas["Divergence"];
export type RateLabels = Schemas["RateLabels"];
export type RunDetail = Schemas["RunDetail"];
export type RunGroup = Schemas["Group"];
export type RunHead = Schemas["RunHead"];
export type ScenarioComparison = Schemas["ScenarioDocument"];
export type ScenarioLabels = Schemas["ScenarioLabels"];
export type Series = Schemas["Series"];
export type AllSeries = Schemas["SeriesList"];
export type SeriesPoint = Schemas["SeriesPoint"];
export type ToolChoiceRow = Schemas["ToolChoiceRow"];
export type ToolChoiceTable = Schemas["ToolChoiceTable"];
export type Trajectory = Schemas["Trajectory"];
export type TrajectoryStep = Schemas["TrajectoryStep"];
export type Usage = Schemas["Usage"];
export type Verdict = Schemas["BatchVerdict"];

/** The data of an evaluation's events, by event name. */
export interface EvaluationEvents {
  queued: Schemas["QueuedEvent"];
  began: Schemas["StartedEvent"];
  progress: Schemas["ProgressEvent"];
  vote: VoteEvent;
  waiting: RetryWait;
  calls: OpenCalls;
  done: Schemas["EndedEvent"];
  failed: Schemas["EndedEvent"];
  cancelled: Schemas["EndedEvent"];
  interrupted: Schemas["EndedEvent"];
  batched: Schemas["EndedEvent"];
}
