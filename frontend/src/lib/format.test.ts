import { expect, test } from "vitest";
import { change, counted, money, score, seconds, time, title } from "./format";

test("what is not known is unknown, never 0", () => {
  expect([score(null), money(null), seconds(undefined), change(null), time(null)]).toEqual(
    Array.from({ length: 5 }, () => "unknown"),
  );
  expect([score(0), money(0), seconds(0)]).toEqual(["0.00", "$0", "0 ms"]);
});
test("a change has its sign, and nothing lost is not a loss", () => {
  expect([change(-0.5), change(0.25), change(-0.001)]).toEqual(["−0.50", "+0.25", "+0.00"]);
});
test("little money is not no money", () => {
  expect([money(0.004), money(0.126)]).toEqual(["under $0.01", "$0.13"]);
});
test("one is singular", () => {
  expect([counted(1, "check"), counted(1200, "token")]).toEqual(["1 check", "1,200 tokens"]);
});
test("durations are read at their own scale", () => {
  expect([seconds(0.2), seconds(2.04), seconds(125)]).toEqual(["200 ms", "2.0 s", "2 min 5 s"]);
});
test("a time that cannot be read is shown as it is", () => {
  expect(time("whenever")).toBe("whenever");
});
test("an id reads as words", () => {
  expect(title("assumption_disclosure")).toBe("Assumption disclosure");
});
