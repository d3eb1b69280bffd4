import { expect, test } from "vitest";
import { documentTitles, isDocument, leftOutNames, mergeFiles } from "./files";

test("documents are told by their names; hidden files and lock files are none", () => {
  expect(["a.txt", "b/c.DOCX", "d.pdf", "e.md"].every(isDocument)).toBe(true);
  expect(["a.png", ".a.txt", ".git/a.txt", "~$a.docx", "a"].some(isDocument)).toBe(false);
});

test("a title is the name without its ending, unless two documents would have the same", () => {
  expect(documentTitles(["a.txt", "b.txt", "b.pdf", "c/a.txt"])).toEqual(["a", "b.txt", "b.pdf", "c/a"]);
});

test("a file that is chosen again replaces the earlier one", () => {
  const chosen = (name: string, text: string) => ({ name, file: new File([text], name) });
  const merged = mergeFiles([chosen("b.txt", "1"), chosen("a.txt", "1")], [chosen("b.txt", "22"), chosen("x.png", "")]);
  expect(merged.map(({ name, file }) => [name, file.size])).toEqual([
    ["a.txt", 1],
    ["b.txt", 2],
  ]);
});

test("what is no document is named once", () => {
  const chosen = (name: string) => ({ name, file: new File([], name) });
  expect(leftOutNames(["b/x.png"], [chosen("a.txt"), chosen("b/x.png"), chosen("a.xlsx")])).toEqual([
    "a.xlsx",
    "b/x.png",
  ]);
});

test("no document is left out silently, however many there are", () => {
  const chosen = Array.from({ length: 1203 }, (_, number) => ({ name: `${number}.txt`, file: new File([], "x") }));
  expect(mergeFiles([], chosen)).toHaveLength(1203);
});
