import { describe, expect, test } from "vitest";
import { formatDollars, formatPercent, formatPoints, formatSpending, relativeChange } from "./format";

describe("figures", () => {
  test("only 1 is formatted as 100%, and only 0 as 0%", () => {
    expect([
      formatPercent(1),
      formatPercent(0.999),
      formatPercent(0),
      formatPercent(0.001),
      formatPercent(null),
    ]).toEqual(["100%", ">99%", "0%", "<1%", "unknown"]);
  });
  test("a difference is signed, with a typographic minus, and zero is not", () => {
    expect([formatPoints(-0.234), formatPoints(0.5), formatPoints(-0.001)]).toEqual(["−23", "+50", "0"]);
  });
  test("a small amount keeps two significant digits, and an unknown one is not 0", () => {
    expect([
      formatDollars(0.00042),
      formatDollars(0.0123),
      formatDollars(2.5),
      formatDollars(0),
      formatDollars(null),
    ]).toEqual(["$0.00042", "$0.012", "$2.50", "$0", "unknown"]);
    expect([formatSpending(null, 0.5), formatSpending(null, 0), formatSpending(0, 0)]).toEqual([
      "at least $0.500",
      "unknown",
      "$0",
    ]);
  });
  test("a change is relative to A, and empty when A is zero or unknown", () => {
    expect([
      relativeChange(2, 3),
      relativeChange(2, 1),
      relativeChange(2, 2),
      relativeChange(0, 1),
      relativeChange(null, 1),
    ]).toEqual(["+50%", "−50%", "0%", "", ""]);
  });
});
