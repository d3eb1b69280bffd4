import { describe, expect, test } from "vitest";
import { ApiError } from "@/api/errors";
import type { Connection } from "@/api/reconnectingStream";
import type { StreamEvent } from "@/api/sse";
import type { Evaluation } from "@/api/types";
import { applyEvent, watchEvaluation } from "./evaluationEvents";

const RUNNING: Evaluation = {
  id: "01",
  state: "running",
  created_at: "2026-01-01T00:00:00+00:00",
  checks: [],
  subject: "default",
  document_identity: null,
  evaluator: "rules",
  base_url: null,
  mode: "full",
  runs: 3,
  playbook_id: "p",
  playbook_version: "1",
  queue_position: null,
  progress: "",
  done: 0,
  total: 12,
  votes: [],
  waiting: null,
  open_calls: null,
  report_id: null,
  resumable: false,
  needs_key: false,
  waits_for: null,
  problem: null,
  warnings: [],
};

function event(name: string, data: unknown, id: string | null = null): StreamEvent {
  return { name, data: JSON.stringify(data), id };
}

function vote(sequence: number): StreamEvent {
  return event("vote", { sequence, check_id: "a", run: 1, result: "pass", valid: true }, String(sequence));
}

const DONE = event("done", { report_id: "01", problem: null });

describe("applyEvent", () => {
  test("counts a vote once that is delivered twice", () => {
    const once = applyEvent(RUNNING, vote(5));
    expect(applyEvent(once, vote(5)).votes).toHaveLength(1);
  });
  test("a wait is shown although other calls are answered", () => {
    const waiting = applyEvent(RUNNING, event("waiting", { seconds: 4, reason: "rate limited" }));
    expect(waiting.waiting?.seconds).toBe(4);
    expect(applyEvent(waiting, vote(1)).waiting?.seconds).toBe(4); // of another call
  });
  test("open calls are shown until the evaluation ends", () => {
    const waiting = applyEvent(RUNNING, event("calls", { count: 12, seconds: 3 }));
    expect(waiting.open_calls).toEqual({ count: 12, seconds: 3 });
    expect(applyEvent(waiting, DONE).open_calls).toBeNull();
  });
  test("an evaluation is queued, starts, progresses and finishes", () => {
    const queued = applyEvent({ ...RUNNING, state: "queued" }, event("queued", { position: 3 }));
    expect([queued.state, queued.queue_position]).toEqual(["queued", 3]);
    const started = applyEvent(queued, event("began", { evaluator: "rules", total: 4 }));
    expect([started.state, started.queue_position, started.total]).toEqual(["running", null, 4]);
    const running = applyEvent(started, event("progress", { text: "Running check 1/6, run 2/3", done: 1, total: 4 }));
    expect([running.progress, running.done]).toEqual(["Running check 1/6, run 2/3", 1]);
    expect(applyEvent(running, DONE)).toMatchObject({ state: "done", report_id: "01" });
  });
  test("ignores an unknown event", () => {
    expect(applyEvent(RUNNING, event("applause", {}))).toBe(RUNNING);
  });
});

describe("watchEvaluation", () => {
  async function watchThrough(connections: (StreamEvent[] | Error)[]) {
    const lastIds: (string | null)[] = [];
    const received: string[] = [];
    const states: Connection[] = [];
    const pauses: number[] = [];
    const source = {
      connect: async (last: string | null) => {
        lastIds.push(last);
        const next = connections.shift();
        if (!next) throw new Error("more requests than connections");
        if (next instanceof Error) throw next;
        return (async function* () {
          yield* next;
        })();
      },
      pause: async (milliseconds: number) => {
        pauses.push(milliseconds);
      },
    };
    const listener = {
      onEvent: ({ name, id }: StreamEvent) => received.push(id ?? name),
      onConnection: (connection: Connection) => states.push(connection),
    };
    await watchEvaluation(source, listener, null, new AbortController().signal);
    return { asked: lastIds, seen: received, states, pauses };
  }

  test("resumes after the last vote when the connection is lost", async () => {
    const { asked, seen, states } = await watchThrough([
      [vote(1), vote(2)],
      [vote(3), DONE],
    ]);
    expect(asked).toEqual([null, "2"]);
    expect(seen).toEqual(["1", "2", "3", "done"]);
    expect(states).toEqual(["live", "lost", "live"]);
  });
  test("retries an unreachable server with growing pauses", async () => {
    const gone = new TypeError("fetch failed");
    const { pauses } = await watchThrough([gone, gone, gone, gone, gone, gone, gone, [DONE]]);
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 10000, 10000]);
  });
  test("retries after a server error", async () => {
    const { seen } = await watchThrough([new ApiError(503, { code: "store", message: "", hint: "" }), [DONE]]);
    expect(seen).toEqual(["done"]);
  });
  test("does not retry after a client error", async () => {
    const unknown = new ApiError(404, { code: "unknown_id", message: "No such evaluation.", hint: "" });
    await expect(watchThrough([unknown])).rejects.toBe(unknown);
  });
});
