import { expect, test } from "vitest";
import { applyExample, applyFile, EMPTY_DRAFT, hasTexts, textsOf, toRequest, withoutFileTitle } from "./draft";

test("empty fields are left out", () => {
  expect(toRequest({ ...EMPTY_DRAFT, ai_output: "It is legal.", prompt: "  " })).toEqual({
    ai_output: "It is legal.",
    mode: "full",
    evaluator: "rules",
  });
});
test("a text is sent unchanged, including surrounding whitespace", () => {
  expect(toRequest({ ...EMPTY_DRAFT, ai_output: " x\n", source_document: "\ty" })).toMatchObject({
    ai_output: " x\n",
    source_document: "\ty",
  });
});
test("an uploaded playbook takes precedence over one of the library", () => {
  const draft = { ...EMPTY_DRAFT, ai_output: "x", playbook_id: "starter", playbook: { name: "own.json", text: "{}" } };
  expect(toRequest(draft)).toMatchObject({ playbook: "{}" });
  expect(toRequest(draft)).not.toHaveProperty("playbook_id");
});
test("the rules send nothing, so no base URL is given", () => {
  const draft = { ...EMPTY_DRAFT, ai_output: "x", base_url: "http://localhost:1" };
  expect(toRequest(draft)).not.toHaveProperty("base_url");
  expect(toRequest({ ...draft, evaluator: "openai/m" })).toHaveProperty("base_url");
});
test("an example does not change the evaluator", () => {
  const example = { id: "e", title: "", about: "", ai_output: "a", source_document: null, prompt: "p", subject: "s" };
  const draft = applyExample({ ...EMPTY_DRAFT, evaluator: "openai/m", system_instructions: "old" }, example);
  expect(draft).toMatchObject({ ai_output: "a", source_document: "", system_instructions: "", evaluator: "openai/m" });
});
test("the hash of a file is sent as long as its text is unchanged", () => {
  const files = {
    ai_output: { name: "x.txt", text: "x", sha256: "sha256:1" },
    prompt: { name: "y.txt", text: "y", sha256: "sha256:2" },
  };
  const draft = { ...EMPTY_DRAFT, ai_output: "x", prompt: "y, edited", files };
  expect(toRequest(draft)).toMatchObject({ file_hashes: { ai_output: "sha256:1" } });
  expect(toRequest({ ...draft, ai_output: "z" })).not.toHaveProperty("file_hashes");
});
test("a time limit is sent for a model only, and only if it is a number", () => {
  const draft = { ...EMPTY_DRAFT, ai_output: "x", evaluator: "openai/m", timeout: "900" };
  expect(toRequest(draft)).toMatchObject({ timeout: 900 });
  for (const other of [{ timeout: "" }, { timeout: "soon" }, { evaluator: "rules" }]) {
    expect(toRequest({ ...draft, ...other })).not.toHaveProperty("timeout");
  }
});
test("another text does not keep the title that a file gave, but one that was typed", () => {
  const file = { name: "Lease memo.v2.txt", text: "x", sha256: "sha256:1" };
  const draft = { ...EMPTY_DRAFT, ...applyFile(EMPTY_DRAFT, "ai_output", file) };
  expect(draft).toMatchObject({ ai_output: "x", title: "Lease memo.v2" });
  expect(withoutFileTitle(draft)).toEqual({ title: "" });
  expect(withoutFileTitle({ ...draft, title: "Lease memo, final" })).toEqual({});
  expect(applyFile(draft, "prompt", file)).not.toHaveProperty("title");
});
test("an emptied form keeps who judges and how", () => {
  const kept = { reviewer: "Ada", evaluator: "openai/m", mode: "screening", playbook_id: "p", runs: "5" } as const;
  const texts = { ai_output: "x", prompt: "y", title: "t", subject: "s", producer: "p" };
  const draft = { ...EMPTY_DRAFT, ...kept, ...texts };
  const emptied = { ...draft, ...textsOf(EMPTY_DRAFT) };
  expect(emptied).toEqual({ ...EMPTY_DRAFT, ...kept });
  expect([hasTexts(draft), hasTexts(emptied)]).toEqual([true, false]);
  expect({ ...emptied, ...textsOf(draft) }).toEqual(draft);
});
