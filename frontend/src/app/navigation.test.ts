import { expect, test } from "vitest";
import { NAVIGATION, navigationFrom } from "./navigation";

const titles = (home: string) => navigationFrom(home).map(({ title }) => title);

test("the product of the first page comes first", () => {
  expect(titles("/scenarios")).toEqual(["Scenarios", "Playbooks"]);
  expect(titles("/")).toEqual(["Playbooks", "Scenarios"]);
});

test("an unknown first page changes nothing", () => {
  expect(navigationFrom("/elsewhere")).toEqual(NAVIGATION);
});
