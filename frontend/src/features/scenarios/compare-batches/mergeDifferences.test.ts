import { expect, test } from "vitest";
import { mergeDifferences } from "./mergeDifferences";

test("what differs in the same way on several scenarios is told once", () => {
  const judge = { what: "the model of the judge", a: "x", b: "y" };
  const found = mergeDifferences([
    { scenario_id: "refund", differs: [judge, { what: "the tool search", a: null, b: null }] },
    { scenario_id: "book", differs: [judge, { what: "the tool search", a: "there", b: "not there" }] },
  ]);
  expect(found.map(({ what, scenarios: where }) => [what, where])).toEqual([
    ["the model of the judge", ["refund", "book"]],
    ["the tool search", ["refund"]],
    ["the tool search", ["book"]],
  ]);
});
