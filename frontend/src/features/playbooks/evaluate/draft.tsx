/** The evaluation that the user is preparing. It is kept only in memory, in particular the API key. */
import { createContext, useContext, useMemo, useState } from "react";
import type { EvaluationCreate, Example, Mode } from "@/api/types";

export interface UploadedPlaybook {
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
  /** An uploaded playbook, used instead of one of the library. */
  playbook: UploadedPlaybook | null;
}

/** The fields of a draft that the user fills in with free text. */
export type TextName = "ai_output" | "source_document" | "prompt" | "system_instructions" | "subject" | "producer";

export const EMPTY_DRAFT: Draft = {
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

/** The request for the API, without empty fields. The API key is sent separately. */
export function toRequest(draft: Draft): EvaluationCreate {
  const request: EvaluationCreate = { ai_output: draft.ai_output, mode: draft.mode, evaluator: draft.evaluator };
  for (const name of ["source_document", "prompt", "system_instructions"] as const) {
    if (draft[name].trim()) request[name] = draft[name];
  }
  if (draft.subject.trim()) request.subject = draft.subject.trim();
  if (draft.producer.trim()) request.producer = draft.producer.trim();
  if (draft.playbook) request.playbook = draft.playbook.text;
  else if (draft.playbook_id) request.playbook_id = draft.playbook_id;
  if (draft.base_url && draft.evaluator !== "rules") request.base_url = draft.base_url;
  return request;
}

/** Replace the texts by those of the example; evaluator, mode and playbook stay as chosen. */
export function applyExample(draft: Draft, example: Example): Draft {
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

interface DraftState {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  apiKey: string;
  setApiKey: (key: string) => void;
}

const Context = createContext<DraftState | null>(null);

export function DraftProvider({ children }: { children: React.ReactNode }) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [apiKey, setApiKey] = useState("");
  const state = useMemo(
    () => ({
      draft,
      change: (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part })),
      apiKey,
      setApiKey,
    }),
    [draft, apiKey],
  );
  return <Context value={state}>{children}</Context>;
}

export function useDraft(): DraftState {
  const state = useContext(Context);
  if (!state) throw new Error("useDraft must be used within a DraftProvider");
  return state;
}
