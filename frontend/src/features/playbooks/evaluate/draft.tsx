/** What somebody is about to have evaluated. It lives in this page's memory alone, the key above all. */
import { createContext, useContext, useMemo, useState } from "react";
import type { Asked, Example, Mode } from "@/api/types";

export const TEXTS = ["ai_output", "source_document", "prompt", "system_instructions"] as const;
export type TextName = (typeof TEXTS)[number];

export interface OwnPlaybook {
  name: string;
  text: string;
}

export interface Draft {
  ai_output: string;
  source_document: string;
  prompt: string;
  system_instructions: string;
  subject: string;
  producer: string;
  mode: Mode;
  /** "rules", or a model such as "anthropic/claude-sonnet-4-6". */
  evaluator: string;
  base_url: string;
  playbook_id: string;
  /** A file of one's own, instead of one of the library. */
  playbook: OwnPlaybook | null;
}

export const EMPTY: Draft = {
  ai_output: "",
  source_document: "",
  prompt: "",
  system_instructions: "",
  subject: "",
  producer: "",
  mode: "full",
  evaluator: "rules",
  base_url: "",
  playbook_id: "",
  playbook: null,
};

/** As the API takes it: what was left empty is left out. The key is no part of it. */
export function askedFor(draft: Draft): Asked {
  const asked: Asked = { ai_output: draft.ai_output, mode: draft.mode, evaluator: draft.evaluator };
  for (const name of ["source_document", "prompt", "system_instructions"] as const) {
    if (draft[name].trim()) asked[name] = draft[name];
  }
  if (draft.subject.trim()) asked.subject = draft.subject.trim();
  if (draft.producer.trim()) asked.producer = draft.producer.trim();
  if (draft.playbook) asked.playbook = draft.playbook.text;
  else if (draft.playbook_id) asked.playbook_id = draft.playbook_id;
  if (draft.base_url && draft.evaluator !== "rules") asked.base_url = draft.base_url;
  return asked;
}

/** The example's texts in place of those that are there; how it is judged stays as it was chosen. */
export function withExample(draft: Draft, example: Example): Draft {
  return {
    ...draft,
    ai_output: example.ai_output,
    source_document: example.source_document ?? "",
    prompt: example.prompt ?? "",
    system_instructions: "",
    subject: example.subject,
    producer: "",
  };
}

interface Held {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  apiKey: string;
  setApiKey: (key: string) => void;
}

const Context = createContext<Held | null>(null);

export function DraftProvider({ children }: { children: React.ReactNode }) {
  const [draft, setDraft] = useState(EMPTY);
  const [apiKey, setApiKey] = useState("");
  const held = useMemo(
    () => ({
      draft,
      change: (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part })),
      apiKey,
      setApiKey,
    }),
    [draft, apiKey],
  );
  return <Context value={held}>{children}</Context>;
}

export function useDraft(): Held {
  const held = useContext(Context);
  if (!held) throw new Error("useDraft is used outside of DraftProvider");
  return held;
}
