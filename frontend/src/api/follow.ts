/** Events from the server as long as they are wanted; a lost connection goes on where it was. */
import { ApiError } from "./errors";
import type { StreamEvent } from "./stream";

export type Connection = "live" | "lost";

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

/** Until one of `ends` is told or nobody listens any more. Throws only where asking again cannot help. */
export async function follow(
  source: Source,
  listener: Listener,
  last: string | null,
  signal: AbortSignal,
  ends: readonly string[] = [],
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
        if (ends.includes(event.name)) return;
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
