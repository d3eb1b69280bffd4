import { expect, test } from "vitest";
import { applyExample, EMPTY_DRAFT, toRequest } from "./draft";

test("what was left empty is left out", () => {
  expect(toRequest({ ...EMPTY_DRAFT, ai_output: "It is legal.", prompt: "  " })).toEqual({
    ai_output: "It is legal.",
    mode: "full",
    evaluator: "rules",
  });
});
test("a text is sent as it was given, also its ends", () => {
  expect(toRequest({ ...EMPTY_DRAFT, ai_output: " x\n", source_document: "\ty" })).toMatchObject({
    ai_output: " x\n",
    source_document: "\ty",
  });
});
test("a playbook of one's own goes before one of the library", () => {
  const draft = { ...EMPTY_DRAFT, ai_output: "x", playbook_id: "starter", playbook: { name: "own.json", text: "{}" } };
  expect(toRequest(draft)).toMatchObject({ playbook: "{}" });
  expect(toRequest(draft)).not.toHaveProperty("playbook_id");
});
test("the rules are sent nowhere, so no address is named", () => {
  const draft = { ...EMPTY_DRAFT, ai_output: "x", base_url: "http://localhost:1" };
  expect(toRequest(draft)).not.toHaveProperty("base_url");
  expect(toRequest({ ...draft, evaluator: "openai/m" })).toHaveProperty("base_url");
});
test("an example leaves the choice of the evaluator alone", () => {
  const example = { id: "e", title: "", about: "", ai_output: "a", source_document: null, prompt: "p", subject: "s" };
  const draft = applyExample({ ...EMPTY_DRAFT, evaluator: "openai/m", system_instructions: "old" }, example);
  expect(draft).toMatchObject({ ai_output: "a", source_document: "", system_instructions: "", evaluator: "openai/m" });
});
