/** An evaluation as it goes on, told by its events. */
import { type Connection, follow, type Listener, type Source } from "@/api/follow";
import type { StreamEvent } from "@/api/stream";
import type { Evaluation, Told } from "@/api/types";

export interface Followed {
  evaluation: Evaluation;
  connection: Connection;
}

const ENDS = ["done", "failed", "cancelled", "interrupted"] as const;

export function hasEnded(state: Evaluation["state"]): boolean {
  return (ENDS as readonly string[]).includes(state);
}

/** What is so after an event. Votes are known by their number: told twice, one is counted once. */
export function advanced(now: Evaluation, event: StreamEvent): Evaluation {
  switch (event.name as keyof Told) {
    case "queued": {
      const { position } = told<"queued">(event);
      return { ...now, state: "queued", queue_position: position };
    }
    case "began":
      return { ...now, state: "running", queue_position: null, total: told<"began">(event).total };
    case "progress": {
      const { text, done, total } = told<"progress">(event);
      return { ...now, state: "running", queue_position: null, progress: text, done, total };
    }
    case "vote": {
      const vote = told<"vote">(event);
      if (now.votes.some(({ sequence }) => sequence === vote.sequence)) return now;
      return { ...now, waiting: null, votes: [...now.votes, vote] };
    }
    case "waiting":
      return { ...now, waiting: told<"waiting">(event) };
    case "done":
    case "failed":
    case "cancelled":
    case "interrupted": {
      const { report_id, problem } = told<"done">(event);
      return {
        ...now,
        state: event.name as Evaluation["state"],
        waiting: null,
        queue_position: null,
        report_id,
        problem,
      };
    }
    default:
      return now; // a newer server may tell more
  }
}

function told<Name extends keyof Told>(event: StreamEvent): Told[Name] {
  return JSON.parse(event.data) as Told[Name];
}

/** Until the evaluation is over. */
export function followEvaluation(
  source: Source,
  listener: Listener,
  last: string | null,
  signal: AbortSignal,
): Promise<void> {
  return follow(source, listener, last, signal, ENDS);
}
