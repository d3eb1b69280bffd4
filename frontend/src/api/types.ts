/** The API's shapes under the names that the page uses. All are generated; none is written by hand. */
import type { components, operations } from "./schema";

type Shapes = components["schemas"];

export type Asked = Shapes["Asked"];
export type CheckResult = Shapes["CheckResult"];
export type Citation = Shapes["Citation"];
export type Compared = Shapes["Compared"];
export type DocumentText = Shapes["DocumentText"];
export type DriftSummary = Shapes["DriftSummary"];
export type Estimate = Shapes["Estimate"];
export type Evaluation = Shapes["Evaluation"];
export type Evaluators = Shapes["Evaluators"];
export type Example = Shapes["Example"];
/** What the history is asked for: its filters and its page. */
export type HistoryAsked = NonNullable<operations["listHistory"]["parameters"]["query"]>;
export type HistoryRow = Shapes["HistoryRow"];
export type JobState = Shapes["JobState"];
export type Location = Shapes["Location"];
export type Mode = Shapes["Mode"];
export type ModelFingerprint = Shapes["ModelFingerprint"];
export type PlaybookFindings = Shapes["PlaybookFindings"];
export type PlaybookListed = Shapes["PlaybookListed"];
export type Problem = Shapes["Problem"];
export type RawRun = Shapes["RawRun"];
export type Report = Shapes["Report"];
export type Result = Shapes["Result"];
export type Severity = Shapes["Severity"];
export type Status = Shapes["Status"];
export type StoredReport = Shapes["StoredReport"];
export type TimelinePoint = Shapes["TimelinePoint"];
export type VoteSeen = Shapes["VoteSeen"];
export type Waiting = Shapes["Waiting"];

export type AssertionDifference = Shapes["AssertionDifference"];
export type AssertionSummary = Shapes["AssertionSummary"];
export type Batch = Shapes["Batch"];
export type BatchDetail = Shapes["BatchDetail"];
export type BatchPage = Shapes["BatchPage"];
export type BatchRow = Shapes["BatchRow"];
export type BatchSummary = Shapes["BatchSummary"];
export type BatchesCompared = Shapes["ComparisonDocument"];
export type Beside = Shapes["Beside"];
export type BesideRow = Shapes["Row"];
export type Branch = Shapes["Branch"];
export type Cause = Shapes["Cause"];
export type Changed = Shapes["Changed"];
export type Cost = Shapes["Cost"];
export type EvalResult = Shapes["EvalResult"];
export type Evidence = Shapes["Evidence"];
export type FailureGroup = Shapes["FailureGroup"];
export type IndexEntry = Shapes["IndexEntry"];
export type Interval = Shapes["Interval"];
export type Measured = Shapes["Measured"];
export type Outcome = Shapes["Outcome"];
export type Parting = Shapes["Parting"];
export type RunDetail = Shapes["RunDetail"];
export type RunGroup = Shapes["Group"];
export type RunHead = Shapes["RunHead"];
export type ScenarioCompared = Shapes["ScenarioDocument"];
export type Series = Shapes["Series"];
export type AllSeries = Shapes["AllSeries"];
export type SeriesPoint = Shapes["SeriesPoint"];
export type Trajectory = Shapes["Trajectory"];
export type TrajectoryStep = Shapes["TrajectoryStep"];
export type Usage = Shapes["Usage"];
export type Verdict = Shapes["Verdict"];

/** What the stream of an evaluation tells, by the name of the event. */
export interface Told {
  queued: Shapes["Queued"];
  began: Shapes["Began"];
  progress: Shapes["Progress"];
  vote: VoteSeen;
  waiting: Waiting;
  done: Shapes["Ended"];
  failed: Shapes["Ended"];
  cancelled: Shapes["Ended"];
  interrupted: Shapes["Ended"];
}
