/**
 * The evaluation that the user is preparing. The tab keeps it in its session storage, so that a reload loses nothing and
 * closing the tab ends it. The API keys are kept in memory only.
 */
import { createContext, useContext, useEffect, useMemo, useState } from "react";
import type { EvaluationAgain, EvaluationCreate, Example, Mode } from "@/api/types";

export interface UploadedPlaybook {
  name: string;
  text: string;
}

interface ReadFile {
  name: string;
  text: string;
  sha256: string;
}

/** Who judges, and where it is. Its key is kept elsewhere. */
export interface Judge {
  /** "rules", or a model such as "anthropic/claude-sonnet-4-6". */
  evaluator: string;
  base_url: string;
  /** Seconds that one call may take, as typed; empty for the default. */
  timeout: string;
}

export interface Draft extends Judge {
  ai_output: string;
  source_document: string;
  prompt: string;
  system_instructions: string;
  /** The files that the texts were read from. A text that was edited since is not that of its file. */
  files: Partial<Record<InputName, ReadFile>>;
  /** What the document is called; filled in from the name of a file. */
  title: string;
  reviewer: string;
  subject: string;
  producer: string;
  mode: Mode;
  /** How many times each check is judged in full mode, as typed; empty for what the playbook says. */
  runs: string;
  /** Store hashes and verdicts, but no texts. */
  hashes_only: boolean;
  /** A second judge of the same text. */
  second: Judge | null;
  playbook_id: string;
  /** An uploaded playbook, used instead of one of the library. */
  playbook: UploadedPlaybook | null;
}

/** The texts of an evaluation. */
export type InputName = "ai_output" | "source_document" | "prompt" | "system_instructions";

/** The fields of a draft that the user fills in with free text. */
export type TextName = InputName | "title" | "reviewer" | "subject" | "producer";

export const EMPTY_DRAFT: Draft = {
  ai_output: "",
  source_document: "",
  prompt: "",
  system_instructions: "",
  files: {},
  title: "",
  reviewer: "",
  subject: "",
  producer: "",
  mode: "full",
  runs: "",
  hashes_only: false,
  evaluator: "rules",
  base_url: "",
  timeout: "",
  second: null,
  playbook_id: "",
  playbook: null,
};

/** The request for the API, without empty fields. The API key is sent separately. */
export function toRequest(draft: Draft): EvaluationCreate {
  const request: EvaluationCreate = { ai_output: draft.ai_output, mode: draft.mode, ...judgeRequest(draft) };
  for (const name of ["source_document", "prompt", "system_instructions"] as const) {
    if (draft[name].trim()) request[name] = draft[name];
  }
  const hashes = fileHashes(draft);
  if (Object.keys(hashes).length) request.file_hashes = hashes;
  for (const name of ["title", "reviewer", "subject", "producer"] as const) {
    if (draft[name].trim()) request[name] = draft[name].trim();
  }
  if (draft.playbook) request.playbook = draft.playbook.text;
  else if (draft.playbook_id) request.playbook_id = draft.playbook_id;
  if (Number(draft.runs) > 0 && draft.mode === "full") request.runs = Number(draft.runs);
  if (draft.hashes_only) request.hashes_only = true;
  return request;
}

/** The part of a request that names the judge. */
export function judgeRequest({ evaluator, base_url, timeout }: Judge): EvaluationAgain {
  const request: EvaluationAgain = { evaluator };
  if (base_url && evaluator !== "rules") request.base_url = base_url;
  if (Number(timeout) > 0 && evaluator !== "rules") request.timeout = Number(timeout);
  return request;
}

function fileHashes(draft: Draft): Partial<Record<InputName, string>> {
  const hashes: Partial<Record<InputName, string>> = {};
  for (const [name, file] of Object.entries(draft.files) as [InputName, ReadFile][]) {
    if (file.text === draft[name]) hashes[name] = file.sha256;
  }
  return hashes;
}

/** Replace the texts by those of the example; evaluator, mode and playbook stay as chosen. */
export function applyExample(draft: Draft, example: Example): Draft {
  return {
    ...draft,
    ai_output: example.ai_output,
    source_document: example.source_document ?? "",
    prompt: example.prompt ?? "",
    system_instructions: "",
    title: example.title,
    subject: example.subject,
    producer: "",
  };
}

/** A file was read into a field. That of the AI output gives the document its title. */
export function applyFile(draft: Draft, field: InputName, { name, text, sha256 }: ReadFile): Partial<Draft> {
  return {
    [field]: text,
    files: { ...draft.files, [field]: { name, text, sha256 } },
    ...(field === "ai_output" ? { title: titleFromFile(name) } : {}),
  };
}

/** The AI output gives way to another text, which is not to be called by the name of the file that was there. */
export function withoutFileTitle({ title, files }: Draft): Partial<Draft> {
  const name = files.ai_output?.name;
  return name && title === titleFromFile(name) ? { title: "" } : {};
}

/** The name of a file without its ending. */
function titleFromFile(name: string): string {
  return name.replace(/\.[^.]*$/, "") || name;
}

/** What belongs to one text; evaluator, mode, playbook and reviewer are chosen for many. */
export function textsOf(draft: Draft) {
  const { ai_output, source_document, prompt, system_instructions, files, title, subject, producer } = draft;
  return { ai_output, source_document, prompt, system_instructions, files, title, subject, producer };
}

/** Whether a text, or a field about it, was filled in. */
export function hasTexts(draft: Draft): boolean {
  return Object.values(textsOf(draft)).some((value) => typeof value === "string" && value !== "");
}

const STORAGE_KEY = "salvo-draft";

/** What this tab has stored; fields of other versions of the page are left out. */
function storedDraft(): Draft {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "{}") as Partial<Draft>;
    const known = Object.entries(stored).filter(([name, value]) => sameType(value, EMPTY_DRAFT[name as keyof Draft]));
    return { ...EMPTY_DRAFT, ...Object.fromEntries(known) };
  } catch {
    return EMPTY_DRAFT; // storage is blocked, or has something else
  }
}

function sameType(value: unknown, empty: unknown): boolean {
  return empty !== undefined && (empty === null ? typeof value === "object" : typeof value === typeof empty);
}

function storeDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(draft));
  } catch {
    sessionStorage.removeItem(STORAGE_KEY); // too long for it: an older text must not come back
  }
}

interface DraftState {
  draft: Draft;
  change: (part: Partial<Draft> | ((current: Draft) => Partial<Draft>)) => void;
  apiKey: string;
  setApiKey: (key: string) => void;
  /** The key of the second judge. */
  secondKey: string;
  setSecondKey: (key: string) => void;
}

const Context = createContext<DraftState | null>(null);

export function DraftProvider({ children }: { children: React.ReactNode }) {
  const [draft, setDraft] = useState(storedDraft);
  useEffect(() => storeDraft(draft), [draft]);
  const [apiKey, setApiKey] = useState("");
  const [secondKey, setSecondKey] = useState("");
  const state = useMemo(
    () => ({
      draft,
      change: (part: Partial<Draft> | ((current: Draft) => Partial<Draft>)) =>
        setDraft((current) => ({ ...current, ...(typeof part === "function" ? part(current) : part) })),
      apiKey,
      setApiKey,
      secondKey,
      setSecondKey,
    }),
    [draft, apiKey, secondKey],
  );
  return <Context value={state}>{children}</Context>;
}

export function useDraft(): DraftState {
  const state = useContext(Context);
  if (!state) throw new Error("useDraft must be used within a DraftProvider");
  return state;
}
