import { describe, expect, test } from "vitest";
import { EventParser } from "./sse";

const VOTE = 'event: vote\nid: 7\ndata: {"run":1}\n\n';

describe("server-sent events", () => {
  test("an event is complete after its empty line", () => {
    const parser = new EventParser();
    expect(parser.push(VOTE.slice(0, -1))).toEqual([]);
    expect(parser.push("\n")).toEqual([{ name: "vote", data: '{"run":1}', id: "7" }]);
  });
  test("chunk boundaries make no difference", () => {
    const parser = new EventParser();
    expect([...VOTE].flatMap((piece) => parser.push(piece))).toEqual([{ name: "vote", data: '{"run":1}', id: "7" }]);
  });
  test("all three line endings are recognized, also across chunks", () => {
    const parser = new EventParser();
    expect([...parser.push("data: a\r"), ...parser.push("\n\r\n"), ...parser.push("data: b\r\rx")]).toEqual([
      { name: "message", data: "a", id: null },
      { name: "message", data: "b", id: null },
    ]);
  });
  test("comments are skipped and the last id is kept", () => {
    const parser = new EventParser();
    parser.push(VOTE);
    expect(parser.push(": still here\n\nevent: progress\ndata: 1\ndata: 2\n\n")).toEqual([
      { name: "progress", data: "1\n2", id: "7" },
    ]);
  });
});
