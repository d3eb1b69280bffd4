/** A stream of server-sent events that reconnects and resumes after the last event. */
import { ApiError } from "./errors";
import type { StreamEvent } from "./sse";

export type Connection = "live" | "lost";

export interface StreamSource {
  connect: (after: string | null, signal: AbortSignal) => Promise<AsyncIterable<StreamEvent>>;
  pause: (milliseconds: number) => Promise<void>;
}

export interface StreamListener {
  onEvent: (event: StreamEvent) => void;
  onConnection: (connection: Connection) => void;
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

/** Deliver events until one of `finalEvents` arrives or the signal aborts. Throws only when retrying cannot help. */
export async function reconnectingStream(
  source: StreamSource,
  listener: StreamListener,
  lastEventId: string | null,
  signal: AbortSignal,
  finalEvents: readonly string[] = [],
): Promise<void> {
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    try {
      const events = await source.connect(lastEventId, signal);
      listener.onConnection("live");
      for await (const event of events) {
        if (signal.aborted) return;
        pause = FIRST_PAUSE;
        if (event.id) lastEventId = event.id;
        listener.onEvent(event);
        if (finalEvents.includes(event.name)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500) throw error;
    }
    listener.onConnection("lost");
    await source.pause(pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}
