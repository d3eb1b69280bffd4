// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { runsProblem, statedRuns } from "./playbookRuns";

test("the runs are those that the playbook states, or three", () => {
  expect(statedRuns('{"variance_handling": {"min_runs": 5}}')).toBe(5);
  expect(statedRuns('{"variance_handling": {}}')).toBe(3);
  expect(statedRuns("{}")).toBe(3);
  expect(statedRuns("\ufeff{}")).toBeUndefined();
});

test("a full evaluation takes no fewer runs than the playbook states, and no more than the server allows", () => {
  const problem = (runs: string, mode: "full" | "screening" = "full") => runsProblem({ mode, runs }, 3);
  for (const runs of ["", "3", "25"]) expect(problem(runs)).toBe("");
  for (const runs of ["2", "26", "3.5", "0"])
    expect(problem(runs)).toBe("Enter a number of runs from 3 to 25, or none.");
  expect(problem("1", "screening")).toBe("");
});
