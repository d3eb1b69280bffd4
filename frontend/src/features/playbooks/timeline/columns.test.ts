import { expect, test } from "vitest";
import { checksOf, textChange } from "./columns";

test("what failed in the newest report comes first, then what was undecided", () => {
  const reports = [
    { outcomes: { a: "pass", b: "indeterminate", c: "fail" } },
    { outcomes: { a: "fail", d: "fail" } },
  ] as const;
  expect(checksOf(reports)).toEqual(["c", "d", "b", "a"]);
});

test("a text is compared with that of the report before it", () => {
  const [older, same, other] = ["x", "x", "y"].map((inputs_fingerprint) => ({ inputs_fingerprint }));
  expect(textChange(older as { inputs_fingerprint: string }, undefined)).toBe("first");
  expect(textChange(same as { inputs_fingerprint: string }, older)).toBe("same");
  expect(textChange(other as { inputs_fingerprint: string }, same)).toBe("changed");
});
