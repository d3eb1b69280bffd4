import { expect, test } from "vitest";
import { checksOf, textChange } from "./columns";

test("what failed in the newest report comes first, then what was undecided", () => {
  const reports = [
    { outcomes: { a: "pass", b: "indeterminate", c: "fail" } },
    { outcomes: { a: "fail", d: "fail" } },
  ] as const;
  expect(checksOf(reports)).toEqual(["c", "d", "b", "a"]);
});

test("a text is compared with that of the report before it that has the same title", () => {
  const newestFirst = [
    { title: "Lease", inputs_fingerprint: "y" },
    { title: "Notice", inputs_fingerprint: "z" },
    { title: "Lease", inputs_fingerprint: "x" },
    { title: "Lease", inputs_fingerprint: "x" },
  ];
  const changes = newestFirst.map((_, index) => textChange(newestFirst, index));
  expect(changes).toEqual(["changed", "first report", "same", "first report"]);
});
