import { expect, test } from "vitest";
import { rulesNotice } from "./rulesNotice";

test("a text that is sent to a server elsewhere leaves this machine", () => {
  expect(rulesNotice("127.0.0.1")).toMatch(/^Nothing leaves this machine\./);
  expect(rulesNotice("salvo.firm.example")).toMatch(/^Nothing is sent further than to this server\./);
});
