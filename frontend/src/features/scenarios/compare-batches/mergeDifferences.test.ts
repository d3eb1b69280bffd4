import { expect, test } from "vitest";
import { mergeDifferences } from "./mergeDifferences";

test("a difference shared by several scenarios is listed once", () => {
  const judge = { what: "the model of the judge", a: "x", b: "y" };
  const merged = mergeDifferences([
    { scenario_id: "refund", differs: [judge, { what: "the tool search", a: null, b: null }] },
    { scenario_id: "book", differs: [judge, { what: "the tool search", a: "there", b: "not there" }] },
  ]);
  expect(merged.map(({ what, scenarios }) => [what, scenarios])).toEqual([
    ["the model of the judge", ["refund", "book"]],
    ["the tool search", ["refund"]],
    ["the tool search", ["book"]],
  ]);
});
