/** An evaluation as it goes on, told by its events; a lost connection goes on where it was. */
import { ApiError } from "@/api/errors";
import type { StreamEvent } from "@/api/stream";
import type { Evaluation, Told } from "@/api/types";

export type Connection = "live" | "lost";

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

export interface Source {
  watch: (after: string | null, signal: AbortSignal) => Promise<AsyncIterable<StreamEvent>>;
  pause: (milliseconds: number) => Promise<void>;
}

export interface Listener {
  event: (event: StreamEvent) => void;
  connection: (now: Connection) => void;
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

/** Until it is over or nobody listens any more. Throws only where asking again cannot help. */
export async function follow(
  source: Source,
  listener: Listener,
  last: string | null,
  signal: AbortSignal,
): Promise<void> {
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    try {
      const events = await source.watch(last, signal);
      listener.connection("live");
      for await (const event of events) {
        if (signal.aborted) return;
        pause = FIRST_PAUSE;
        if (event.id) last = event.id;
        listener.event(event);
        if ((ENDS as readonly string[]).includes(event.name)) return;
      }
    } catch (fault) {
      if (signal.aborted) return;
      if (fault instanceof ApiError && fault.status < 500) throw fault;
    }
    listener.connection("lost");
    await source.pause(pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}
