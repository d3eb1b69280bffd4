import { expect, test } from "vitest";
import { askedFor, EMPTY, withExample } from "./draft";

test("what was left empty is left out", () => {
  expect(askedFor({ ...EMPTY, ai_output: "It is legal.", prompt: "  " })).toEqual({
    ai_output: "It is legal.",
    mode: "full",
    evaluator: "rules",
  });
});
test("a text is sent as it was given, also its ends", () => {
  expect(askedFor({ ...EMPTY, ai_output: " x\n", source_document: "\ty" })).toMatchObject({
    ai_output: " x\n",
    source_document: "\ty",
  });
});
test("a playbook of one's own goes before one of the library", () => {
  const draft = { ...EMPTY, ai_output: "x", playbook_id: "starter", playbook: { name: "own.json", text: "{}" } };
  expect(askedFor(draft)).toMatchObject({ playbook: "{}" });
  expect(askedFor(draft)).not.toHaveProperty("playbook_id");
});
test("the rules are sent nowhere, so no address is named", () => {
  const draft = { ...EMPTY, ai_output: "x", base_url: "http://localhost:1" };
  expect(askedFor(draft)).not.toHaveProperty("base_url");
  expect(askedFor({ ...draft, evaluator: "openai/m" })).toHaveProperty("base_url");
});
test("an example leaves the choice of the evaluator alone", () => {
  const example = { id: "e", title: "", about: "", ai_output: "a", source_document: null, prompt: "p", subject: "s" };
  const draft = withExample({ ...EMPTY, evaluator: "openai/m", system_instructions: "old" }, example);
  expect(draft).toMatchObject({ ai_output: "a", source_document: "", system_instructions: "", evaluator: "openai/m" });
});
