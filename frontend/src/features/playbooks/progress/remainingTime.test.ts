import { expect, test } from "vitest";
import { formatClock, remainingSeconds } from "./remainingTime";

test("the time left follows from the pace, and is unknown before two answers", () => {
  expect(remainingSeconds(10, 1, { done: 1, total: 12 })).toBeNull();
  expect(remainingSeconds(10, 4, { done: 4, total: 12 })).toBe(20);
  expect(remainingSeconds(10, 4, { done: 12, total: 12 })).toBeNull();
});

test("times are short and in words", () => {
  expect([48, 185, 3720].map(formatClock)).toEqual(["48 s", "3 min 05 s", "1 h 02 min"]);
});
