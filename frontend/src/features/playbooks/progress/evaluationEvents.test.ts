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
  report_id: null,
  resumable: false,
  needs_key: false,
  problem: null,
};

function event(name: string, data: unknown, id: string | null = null): StreamEvent {
  return { name, data: JSON.stringify(data), id };
}

function vote(sequence: number): StreamEvent {
  return event("vote", { sequence, check_id: "a", run: 1, result: "pass", valid: true }, String(sequence));
}

const DONE = event("done", { report_id: "01", problem: null });

describe("what is so after an event", () => {
  test("a vote that is told twice is counted once", () => {
    const once = applyEvent(RUNNING, vote(5));
    expect(applyEvent(once, vote(5)).votes).toHaveLength(1);
  });
  test("a vote ends the wait that was before it", () => {
    const waiting = applyEvent(RUNNING, event("waiting", { seconds: 4, reason: "rate limited" }));
    expect(waiting.waiting?.seconds).toBe(4);
    expect(applyEvent(waiting, vote(1)).waiting).toBeNull();
  });
  test("it stands in line, begins, goes on and is done", () => {
    const line = applyEvent({ ...RUNNING, state: "queued" }, event("queued", { position: 3 }));
    expect([line.state, line.queue_position]).toEqual(["queued", 3]);
    const begun = applyEvent(line, event("began", { evaluator: "rules", total: 4 }));
    expect([begun.state, begun.queue_position, begun.total]).toEqual(["running", null, 4]);
    const on = applyEvent(begun, event("progress", { text: "Running check 1/6, run 2/3", done: 1, total: 4 }));
    expect([on.progress, on.done]).toEqual(["Running check 1/6, run 2/3", 1]);
    expect(applyEvent(on, DONE)).toMatchObject({ state: "done", report_id: "01" });
  });
  test("an event of a newer server changes nothing", () => {
    expect(applyEvent(RUNNING, event("applause", {}))).toBe(RUNNING);
  });
});

describe("following", () => {
  async function watchThrough(connections: (StreamEvent[] | Error)[]) {
    const lastIds: (string | null)[] = [];
    const received: string[] = [];
    const states: Connection[] = [];
    const pauses: number[] = [];
    const source = {
      connect: async (last: string | null) => {
        lastIds.push(last);
        const next = connections.shift();
        if (!next) throw new Error("asked more often than there are connections");
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
      onConnection: (now: Connection) => states.push(now),
    };
    await watchEvaluation(source, listener, null, new AbortController().signal);
    return { asked: lastIds, seen: received, states, pauses };
  }

  test("a connection that is cut goes on after the last vote", async () => {
    const { asked, seen, states } = await watchThrough([
      [vote(1), vote(2)],
      [vote(3), DONE],
    ]);
    expect(asked).toEqual([null, "2"]);
    expect(seen).toEqual(["1", "2", "3", "done"]);
    expect(states).toEqual(["live", "lost", "live"]);
  });
  test("a server that does not answer is asked ever more slowly, until it does", async () => {
    const gone = new TypeError("fetch failed");
    const { pauses } = await watchThrough([gone, gone, gone, gone, gone, gone, gone, [DONE]]);
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 10000, 10000]);
  });
  test("a server that fails is asked again", async () => {
    const { seen } = await watchThrough([new ApiError(503, { code: "store", message: "", hint: "" }), [DONE]]);
    expect(seen).toEqual(["done"]);
  });
  test("what does not exist is not asked for again", async () => {
    const unknown = new ApiError(404, { code: "unknown_id", message: "No such evaluation.", hint: "" });
    await expect(watchThrough([unknown])).rejects.toBe(unknown);
  });
});
