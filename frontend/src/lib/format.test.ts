import { expect, test } from "vitest";
import { checkTitle, formatChange, formatMoney, formatScore, formatSeconds, formatTime, pluralize } from "./format";

test("an unknown value is never formatted as 0", () => {
  expect([
    formatScore(null),
    formatMoney(null),
    formatSeconds(undefined),
    formatChange(null),
    formatTime(null),
  ]).toEqual(Array.from({ length: 5 }, () => "unknown"));
  expect([formatScore(0), formatMoney(0), formatSeconds(0)]).toEqual(["0.00", "$0", "0 ms"]);
});
test("a change is signed, and zero is never negative", () => {
  expect([formatChange(-0.5), formatChange(0.25), formatChange(-0.001)]).toEqual(["−0.50", "+0.25", "+0.00"]);
});
test("a small amount is not formatted as zero", () => {
  expect([formatMoney(0.004), formatMoney(0.126)]).toEqual(["under $0.01", "$0.13"]);
});
test("one takes the singular", () => {
  expect([pluralize(1, "check"), pluralize(1200, "token")]).toEqual(["1 check", "1,200 tokens"]);
});
test("durations use the unit of their scale", () => {
  expect([formatSeconds(0.2), formatSeconds(2.04), formatSeconds(125)]).toEqual(["200 ms", "2.0 s", "2 min 5 s"]);
  expect([formatSeconds(59.98), formatSeconds(119.7)]).toEqual(["1 min 0 s", "2 min 0 s"]);
});
test("an invalid time is shown unchanged", () => {
  expect(formatTime("whenever")).toBe("whenever");
});
test("a check id becomes a title", () => {
  expect(checkTitle("assumption_disclosure")).toBe("Assumption disclosure");
});
