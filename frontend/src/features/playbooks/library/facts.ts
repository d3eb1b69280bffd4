import type { PlaybookEntry } from "@/api/types";
import type { Fact } from "@/components/layout";

export function playbookFacts(playbook: PlaybookEntry): Fact[] {
  return [
    { name: "Id and version", value: `${playbook.id} ${playbook.version}`, code: true },
    { name: "Checks", value: `${playbook.checks}, ${playbook.judged} of them judged by the evaluator` },
    { name: "Runs", value: `at least ${playbook.min_runs} in full mode` },
    ...(playbook.intended_use.length ? [{ name: "Intended use", value: playbook.intended_use.join("; ") }] : []),
    { name: "Logic hash", value: playbook.logic_hash, code: true, copy: true },
  ];
}
