import { expect, test } from "vitest";
import { cssString } from "./printing";

test("a title cannot end the string that it is printed in", () => {
  expect(cssString('Über 5 "x"\\\n</style>')).toBe('"Über 5 \\22 x\\22 \\5c  \\3c \\2f style\\3e "');
});
