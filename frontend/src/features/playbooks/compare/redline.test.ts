import { expect, test } from "vitest";
import { redline } from "./redline";

function marked(before: string, after: string): string {
  return redline(before, after)
    .map(({ kind, text }) => (kind === "same" ? text : kind === "removed" ? `[-${text}-]` : `[+${text}+]`))
    .join("");
}

function side(before: string, after: string, kind: "removed" | "added"): string {
  return redline(before, after)
    .filter((run) => run.kind === "same" || run.kind === kind)
    .map(({ text }) => text)
    .join("");
}

test("words that were replaced, added and removed are marked, not whole lines", () => {
  expect(marked("The cap may be upheld in court.", "The cap will be upheld.")).toBe(
    "The cap[- may-][+ will+] be[- upheld in court.-][+ upheld.+]",
  );
  expect(marked("a b", "a b c")).toBe("a b[+ c+]");
  expect(marked("", "new text")).toBe("[+new text+]");
  expect(marked("same", "same")).toBe("same");
});

test("a word that two rewritten sentences have in common does not tear them apart", () => {
  expect(
    marked(
      "The cap depends on the court of the seller and needs a review.",
      "You can sign all of this today, and the price will never be any risk.",
    ).match(/\[/g),
  ).toHaveLength(2);
  expect(marked("It may apply in court.", "It will apply in Rome.")).toBe(
    "It[- may-][+ will+] apply in[- court.-][+ Rome.+]",
  );
});

test("the marks contain both texts, whatever they are", () => {
  const vocabulary = ["the", "clause", "may", "will", "not", "apply", "in", "court", "7.1", "\n\nNext"];
  let seed = 7;
  const random = (limit: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % limit;
  };
  for (let round = 0; round < 60; round += 1) {
    const text = () => Array.from({ length: random(40) }, () => vocabulary[random(10)]).join(" ");
    const [before, after] = [text(), text()];
    const flat = (value: string) => value.replace(/\s+/g, "");
    expect(flat(side(before, after, "removed"))).toBe(flat(before));
    expect(side(before, after, "added").trimEnd()).toBe(after.trimEnd());
  }
});

test("two texts of a megabyte are compared, and a changed word in each of them is all that is marked", () => {
  const sentences = Array.from(
    { length: 20_000 },
    (_, number) => `Clause ${number} of the agreement limits what is due.`,
  );
  const before = sentences.join(" ");
  const after = sentences
    .map((text, number) => (number % 4000 === 1 ? text.replace("limits", "extends") : text))
    .join(" ");
  const runs = redline(before, after);
  expect(runs.filter(({ kind }) => kind === "added").map(({ text }) => text.trim())).toEqual(Array(5).fill("extends"));
  expect(runs.filter(({ kind }) => kind === "removed").map(({ text }) => text.trim())).toEqual(Array(5).fill("limits"));
});

test("texts with nothing in common, or of one repeated word, are bounded too", () => {
  const [a, b] = ["a ".repeat(200_000).trim(), "b ".repeat(200_000).trim()];
  expect(redline(a, b).map(({ kind }) => kind)).toEqual(["removed", "added"]);
});
