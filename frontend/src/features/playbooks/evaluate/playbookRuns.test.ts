import { expect, test } from "vitest";
import { statedRuns } from "./playbookRuns";

test("the runs are those that the playbook states, or three", () => {
  expect(statedRuns('{"variance_handling": {"min_runs": 5}}')).toBe(5);
  expect(statedRuns('{"variance_handling": {}}')).toBe(3);
  expect(statedRuns("{}")).toBe(3);
  expect(statedRuns("\ufeff{}")).toBeUndefined();
});
