import { expect, test } from "vitest";
import { namingChecks } from "./namingChecks";

const CHECKS = { certainty_language: { title: "Certainty language" } };

test("the ids of checks in a sentence are replaced by their titles, and nothing else is", () => {
  const sentence = "On 51 texts: certainty_language 34 of 48, constructor, other_check 3 of 4.";
  const named = "On 51 texts: Certainty language 34 of 48, constructor, other_check 3 of 4.";
  expect(namingChecks(sentence, CHECKS)).toBe(named);
});
