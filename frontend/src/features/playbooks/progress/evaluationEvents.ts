/** Updates an evaluation from its event stream. */
import { reconnectingStream, type StreamListener, type StreamSource } from "@/api/reconnectingStream";
import type { StreamEvent } from "@/api/sse";
import type { Evaluation, EvaluationEvents } from "@/api/types";

const FINAL_STATES = ["done", "failed", "cancelled", "interrupted", "batched"] as const;

export function isFinal(state: Evaluation["state"]): boolean {
  return (FINAL_STATES as readonly string[]).includes(state);
}

/** The evaluation after an event. A vote that is delivered twice is counted once. */
export function applyEvent(evaluation: Evaluation, event: StreamEvent): Evaluation {
  switch (event.name as keyof EvaluationEvents) {
    case "queued": {
      const { position } = parseData<"queued">(event);
      return { ...evaluation, state: "queued", queue_position: position };
    }
    case "began":
      return { ...evaluation, state: "running", queue_position: null, total: parseData<"began">(event).total };
    case "progress": {
      const { text, done, total } = parseData<"progress">(event);
      return { ...evaluation, state: "running", queue_position: null, progress: text, done, total };
    }
    case "vote": {
      const vote = parseData<"vote">(event);
      if (evaluation.votes.some(({ sequence }) => sequence === vote.sequence)) return evaluation;
      return { ...evaluation, votes: [...evaluation.votes, vote] };
    }
    case "calls":
      return { ...evaluation, open_calls: parseData<"calls">(event) };
    case "waiting":
      return { ...evaluation, waiting: parseData<"waiting">(event) };
    case "done":
    case "failed":
    case "cancelled":
    case "interrupted":
    case "batched": {
      const { report_id, problem } = parseData<"done">(event);
      return {
        ...evaluation,
        state: event.name as Evaluation["state"],
        waiting: null,
        open_calls: null,
        queue_position: null,
        report_id,
        problem,
      };
    }
    default:
      return evaluation; // an event of a newer server
  }
}

function parseData<Name extends keyof EvaluationEvents>(event: StreamEvent): EvaluationEvents[Name] {
  return JSON.parse(event.data) as EvaluationEvents[Name];
}

/** Deliver events until the evaluation is over. */
export function watchEvaluation(
  source: StreamSource,
  listener: StreamListener,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<void> {
  return reconnectingStream(source, listener, lastEventId, signal, FINAL_STATES);
}
