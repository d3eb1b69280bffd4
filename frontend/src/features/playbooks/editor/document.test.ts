import { expect, test } from "vitest";
import { copyDocument, idFromTitle, jsonPath, newDocument, nextVersion, withValue } from "./document";

test("a value is changed, added and removed without touching the original", () => {
  const original = { checks: [{ id: "a", note: "kept" }, { id: "b" }], other: 1 };
  expect(withValue(original, ["checks", 0, "id"], "c")).toEqual({
    checks: [{ id: "c", note: "kept" }, { id: "b" }],
    other: 1,
  });
  expect(withValue(original, ["checks", 0], undefined)).toEqual({ checks: [{ id: "b" }], other: 1 });
  expect(withValue(original, ["metadata", "title"], "T")).toEqual({ ...original, metadata: { title: "T" } });
  expect(withValue(original, ["other"], undefined)).toEqual({ checks: original.checks });
  expect(original.checks[0]?.id).toBe("a");
});

test("a changed field stays in its place", () => {
  expect(Object.keys(withValue({ a: 1, b: 2 }, ["a"], 3))).toEqual(["a", "b"]);
});

test("paths are written as the server writes them", () => {
  expect(jsonPath(["checks", 0, "detection_method", "type"])).toBe("$.checks[0].detection_method.type");
});

test("the next version counts up its last number", () => {
  expect(["1.0.9", "2", "draft"].map(nextVersion)).toEqual(["1.0.10", "3", "draft.1"]);
});

test("an id is made of a title", () => {
  expect(idFromTitle("NDA review: 2nd édition!")).toBe("nda_review_2nd_edition");
});

test("a copy has an id and a version of its own", () => {
  const document = withValue(newDocument("2026-01-01"), ["metadata", "id"], "nda");
  expect(copyDocument(document, "2026-02-02").metadata).toMatchObject({ id: "nda_copy", created_at: "2026-02-02" });
});
