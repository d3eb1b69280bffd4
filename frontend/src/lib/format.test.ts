import { expect, test } from "vitest";
import { checkTitle, formatChange, formatMoney, formatScore, formatSeconds, formatTime, pluralize } from "./format";

test("what is not known is unknown, never 0", () => {
  expect([
    formatScore(null),
    formatMoney(null),
    formatSeconds(undefined),
    formatChange(null),
    formatTime(null),
  ]).toEqual(Array.from({ length: 5 }, () => "unknown"));
  expect([formatScore(0), formatMoney(0), formatSeconds(0)]).toEqual(["0.00", "$0", "0 ms"]);
});
test("a change has its sign, and nothing lost is not a loss", () => {
  expect([formatChange(-0.5), formatChange(0.25), formatChange(-0.001)]).toEqual(["−0.50", "+0.25", "+0.00"]);
});
test("little money is not no money", () => {
  expect([formatMoney(0.004), formatMoney(0.126)]).toEqual(["under $0.01", "$0.13"]);
});
test("one is singular", () => {
  expect([pluralize(1, "check"), pluralize(1200, "token")]).toEqual(["1 check", "1,200 tokens"]);
});
test("durations are read at their own scale", () => {
  expect([formatSeconds(0.2), formatSeconds(2.04), formatSeconds(125)]).toEqual(["200 ms", "2.0 s", "2 min 5 s"]);
});
test("a time that cannot be read is shown as it is", () => {
  expect(formatTime("whenever")).toBe("whenever");
});
test("an id reads as words", () => {
  expect(checkTitle("assumption_disclosure")).toBe("Assumption disclosure");
});
