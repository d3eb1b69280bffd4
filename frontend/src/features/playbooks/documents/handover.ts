/**
 * Hands documents over to the server, one after the other, also while other pages are shown. What the server has is not
 * lost any more; what it does not have is lost if the page is closed, so the browser asks before that.
 */
import { useSyncExternalStore } from "react";
import { api } from "@/api/client";
import { toProblem } from "@/api/errors";
import type { EvaluationCreate } from "@/api/types";
import { applyFile, type Draft, toRequest } from "../evaluate/draft";
import { type ChosenFile, documentTitles } from "./files";

export interface Handover {
  total: number;
  done: number;
  /** Why it stopped before the end. */
  problem: unknown;
}

const BUSY_MS = 2000;
const AT_ONCE = 3;
let handovers: ReadonlyMap<string, Handover> = new Map();
const listeners = new Set<() => void>();

function update(batchId: string, change: Partial<Handover>): void {
  const current = handovers.get(batchId) ?? { total: 0, done: 0, problem: null };
  handovers = new Map(handovers).set(batchId, { ...current, ...change });
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How far the documents of a batch were handed over by this page; undefined if it hands over none of them. */
export function useHandover(batchId: string): Handover | undefined {
  return useSyncExternalStore(subscribe, () => handovers.get(batchId));
}

function warnBeforeClosing(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Hand over the documents. It goes on after this returns. */
export function startHandover(batchId: string, files: readonly ChosenFile[], draft: Draft, key: string): void {
  const titles = documentTitles(files.map(({ name }) => name));
  update(batchId, { total: files.length, done: 0, problem: null });
  window.addEventListener("beforeunload", warnBeforeClosing);
  const waiting = files.map((chosen, index) => ({ chosen, index }));
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { chosen, index } = next;
      await handOver(batchId, chosen, titles[index] ?? chosen.name, `${batchId}:${index}`, draft, key);
      update(batchId, { done: (handovers.get(batchId)?.done ?? 0) + 1 });
    }
  };
  Promise.all(Array.from({ length: AT_ONCE }, work))
    .catch((problem: unknown) => {
      waiting.length = 0;
      update(batchId, { problem });
    })
    .finally(() => window.removeEventListener("beforeunload", warnBeforeClosing));
}

async function handOver(
  batchId: string,
  { file, name }: ChosenFile,
  title: string,
  client_token: string,
  draft: Draft,
  key: string,
): Promise<void> {
  const document = await api.readDocument({ file }).catch((error: unknown) => toProblem(error));
  if ("code" in document) {
    if (["login_needed", "unreachable"].includes(document.code)) throw new Error(document.message);
    const message = `${document.message} ${document.hint}`.trim().slice(0, 500);
    await api.addUnreadDocument(batchId, { file_name: name.slice(0, 500), message });
    return;
  }
  const own = { ...draft, files: {} };
  const request: EvaluationCreate = {
    ...toRequest({ ...own, ...applyFile(own, "ai_output", document), title: title.slice(0, 500) }),
    batch_id: batchId,
    client_token,
  };
  for (const field of ["source_document", "prompt", "system_instructions"] as const) delete request[field];
  for (;;) {
    try {
      await api.startEvaluation(request, key);
      return;
    } catch (error) {
      if (toProblem(error).code !== "busy") {
        // Its text cannot be evaluated, for example because it is empty; the other documents can.
        if (!["invalid_input", "bad_usage"].includes(toProblem(error).code)) throw error;
        await api.addUnreadDocument(batchId, { file_name: name.slice(0, 500), message: toProblem(error).message });
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
  }
}
