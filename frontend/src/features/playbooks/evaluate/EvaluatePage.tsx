import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { DocumentText, Mode } from "@/api/types";
import { Button, TextLink } from "@/components/Button";
import { Details } from "@/components/Details";
import { PageTitle } from "@/components/layout";
import { ErrorNotice, Warnings } from "@/components/states";
import { TextInput } from "@/components/TextInput";
import { pluralize } from "@/lib/format";
import {
  applyExample,
  applyFile,
  type Draft,
  EMPTY_DRAFT,
  hasTexts,
  type InputName,
  type Judge,
  judgeRequest,
  type TextName,
  textsOf,
  toRequest,
  useDraft,
  withoutFileTitle,
} from "./draft";
import { EvaluatorChoice, EvaluatorFields } from "./EvaluatorChoice";
import { PlaybookChoice } from "./PlaybookChoice";
import { usePlaybookRuns, useRunsProblem } from "./playbookRuns";
import { ReviewerField } from "./ReviewerField";
import { rulesNotice } from "./rulesNotice";
import { StorageChoice } from "./StorageChoice";
import { TextField } from "./TextField";
import { useEstimate } from "./useEstimate";

export function EvaluatePage() {
  return (
    <>
      <PageTitle lead="Paste text written by an AI. The checks of a playbook are judged several times in full mode, once in a screening. Where the playbook requires it, a failure must quote the text. This is a test, not legal advice.">
        Evaluate a text
      </PageTitle>
      <Examples />
      <form
        aria-label="Evaluation"
        onSubmit={(event) => event.preventDefault()}
        className="mt-6 grid gap-x-10 gap-y-6 xl:grid-cols-[minmax(0,1fr)_23rem]"
      >
        <div className="xl:col-start-2 xl:row-start-1">
          <EvaluatorChoice />
          <SecondJudge />
        </div>
        <div className="min-w-0 xl:col-start-1 xl:row-span-2 xl:row-start-1">
          <TextInputs />
        </div>
        <div className="space-y-6 xl:col-start-2 xl:row-start-2 xl:pb-44">
          <ModeChoice />
          <StorageChoice />
          <PlaybookChoice />
        </div>
        {/* It spans its column, so that it can stay at the bottom of the window wherever the page is scrolled to. */}
        <div className="xl:sticky xl:bottom-0 xl:col-start-2 xl:row-span-2 xl:row-start-1 xl:self-end">
          <RunButton />
        </div>
      </form>
    </>
  );
}

/** Another evaluator of the same text, with a key of its own. */
function SecondJudge() {
  const { draft, change, secondKey, setSecondKey } = useDraft();
  const { second } = draft;
  if (!second) {
    return (
      <Button
        variant="inline"
        className="mt-1 -ml-1 text-sm"
        onClick={() => change({ second: { evaluator: "rules", base_url: "", timeout: "" } })}
      >
        Add a second judge
      </Button>
    );
  }
  return (
    <div className="mt-4 border-rule border-l-[3px] pl-4">
      <EvaluatorFields
        legend="Second judge"
        judge={second}
        onJudge={(part) => change({ second: { ...second, ...part } })}
        apiKey={secondKey}
        onKey={setSecondKey}
      />
      <p className="mt-1 text-sm text-soft">It judges the same text. Each report shows where the two agree.</p>
      <Button variant="text" className="px-1 text-sm" onClick={() => change({ second: null })}>
        Remove the second judge
      </Button>
    </div>
  );
}

function Examples() {
  const { draft, change } = useDraft();
  const { data } = useQuery(queries.examples());
  if (!data?.length) return null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <TextLink to="/documents">Evaluate many documents at once</TextLink>
      <span className="text-soft">or try an example:</span>
      {data.map((example) => (
        <Button
          key={example.id}
          title={example.about}
          className="text-sm"
          onClick={() => change(applyExample(draft, example))}
        >
          {example.title}
        </Button>
      ))}
    </div>
  );
}

function TextInputs() {
  const { draft, change } = useDraft();
  // Open when an example fills in one of these fields, and stay open when the user empties it again.
  const hasOptional = Boolean(draft.system_instructions || draft.subject || draft.producer);
  const [opened, setOpened] = useState(hasOptional);
  if (hasOptional && !opened) setOpened(true);
  const bind = (name: TextName) => ({ value: draft[name], onChange: (text: string) => change({ [name]: text }) });
  const bindName = (name: TextName) => ({ ...bind(name), maxLength: 500, autoComplete: "off" });
  const bindInput = (name: InputName) => ({
    ...bind(name),
    onDocument: (document: DocumentText) => change((current) => applyFile(current, name, document)),
  });
  return (
    <div className="min-w-0 space-y-5">
      <div className="grid gap-5 md:grid-cols-2">
        <TextInput
          prominent
          label="Title"
          hint="What this document is called in the report. A file fills it in."
          {...bindName("title")}
        />
        <ReviewerField />
      </div>
      <TextField
        label="AI output"
        hint="The AI’s text, unchanged. Or drop a file here: .txt, .md, .docx or .pdf."
        rows={14}
        required
        {...bindInput("ai_output")}
        onChange={(ai_output) =>
          change((current) => ({ ai_output, ...(ai_output.trim() ? {} : withoutFileTitle(current)) }))
        }
        onReplace={() => change(withoutFileTitle)}
      />
      <p className="text-sm text-soft">
        What you enter here stays in this tab until you close it, also if you reload the page. The API key does not.{" "}
        <EmptyForm />
      </p>
      <div className="grid gap-5 md:grid-cols-2">
        <TextField
          label="Source document"
          hint="The document that the AI worked from, if any."
          rows={6}
          {...bindInput("source_document")}
        />
        <TextField
          label="Prompt"
          hint="The prompt that the AI was given, if known."
          rows={6}
          {...bindInput("prompt")}
        />
      </div>
      <Details title="More options: system instructions, subject, producer" open={opened}>
        <div className="space-y-4">
          <TextField
            label="System instructions"
            hint="The system instructions that the AI was given."
            rows={4}
            {...bindInput("system_instructions")}
          />
          <TextInput
            prominent
            label="Subject"
            hint="The series this text belongs to, such as “NDA reviews”. Reports on the same subject are compared over time."
            {...bindName("subject")}
          />
          <TextInput
            prominent
            label="Producer"
            hint="The AI that wrote the text, such as “openai/gpt-5.5”. The report lists it as declared by you."
            {...bindName("producer")}
          />
        </div>
      </Details>
    </div>
  );
}

/** Empties the form for another text, and puts back what was in it. */
function EmptyForm() {
  const { draft, change } = useDraft();
  const [emptied, setEmptied] = useState<Draft | null>(null);
  const isEmpty = !hasTexts(draft);
  if (isEmpty && !emptied) return null;
  return (
    <Button
      variant="inline"
      onClick={() => {
        setEmptied(isEmpty ? null : draft);
        change(textsOf((isEmpty && emptied) || EMPTY_DRAFT));
      }}
    >
      {isEmpty ? "Put back what was here" : "Empty the form"}
    </Button>
  );
}

/** The modes; that of the full one names the number of runs. */
function modes(runs: number | undefined): { mode: Mode; title: string }[] {
  return [
    { mode: "full", title: runs ? `Full (${pluralize(runs, "run")}, auditable)` : "Full (several runs, auditable)" },
    { mode: "screening", title: "Screening (1 run, quick)" },
  ];
}

export function ModeChoice() {
  const { draft, change } = useDraft();
  const { data } = useQuery(queries.evaluators());
  const ofPlaybook = usePlaybookRuns(draft);
  const problem = useRunsProblem(draft);
  const isTyped = draft.runs.trim() !== "" && !problem;
  return (
    <fieldset className="space-y-1">
      <legend className="font-semibold">Mode</legend>
      {modes(isTyped ? Number(draft.runs) : ofPlaybook).map(({ mode, title }) => (
        <label
          key={mode}
          className="flex cursor-pointer items-start gap-3 rounded border border-rule bg-card px-3 py-2 has-checked:border-link has-checked:bg-blue-tint"
        >
          <input
            type="radio"
            name="mode"
            value={mode}
            className="mt-1.5 accent-link"
            checked={draft.mode === mode}
            onChange={() => change({ mode })}
          />
          <span>
            <span className="block">{title}</span>
            <span className="block min-h-5 text-sm text-soft">{data?.mode_labels[mode]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Unlike crypto.randomUUID, this also works in insecure contexts. */
function newToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function needsKey(judge: Judge, key: string, estimate: { needs_key: boolean } | undefined): boolean {
  return judge.evaluator !== "rules" && !judge.base_url && !key.trim() && estimate?.needs_key !== false;
}

function RunButton() {
  const { draft, apiKey, secondKey } = useDraft();
  const navigate = useNavigate();
  const client = useQueryClient();
  // A ref is set immediately, unlike state, so a double click starts one evaluation. The server also checks the token.
  const token = useRef<string | null>(null);
  const estimate = useEstimate(draft);
  const { second } = draft;
  const secondDraft = useMemo(() => ({ ...draft, ...second }), [draft, second]);
  const secondEstimate = useEstimate(secondDraft);
  // Of the first evaluation, if it was started and the second judge was not: another try must not start it again.
  const startedToken = useRef<string | null>(null);
  const usesRules = draft.evaluator === "rules";
  const runsProblem = useRunsProblem(draft);
  const start = useMutation({
    mutationFn: async (client_token: string) => {
      const first = await api.startEvaluation({ ...toRequest(draft), client_token }, usesRules ? "" : apiKey.trim());
      if (second) {
        startedToken.current = client_token;
        await api.evaluateAgain(first.id, judgeRequest(second), second.evaluator === "rules" ? "" : secondKey.trim());
      }
      return first;
    },
    gcTime: 0,
    onSuccess: ({ id }) => {
      client.removeQueries({ queryKey: ["evaluations", id] });
      navigate(`/evaluations/${id}`);
    },
    onError: () => {
      token.current = null;
    },
  });
  const missing = !draft.ai_output.trim()
    ? "Paste the AI output first."
    : needsKey(draft, apiKey, estimate.data)
      ? "Enter the API key first."
      : second && draft.hashes_only
        ? "A second judge needs the text to be stored."
        : second && needsKey(second, secondKey, secondEstimate.data)
          ? "Enter the API key of the second judge first."
          : runsProblem;
  const busy = start.isPending || start.isSuccess;
  return (
    <div className="space-y-2 border-rule border-t bg-paper pt-3 pb-2">
      <p role="status" className="text-sm" data-testid="estimate">
        {usesRules ? rulesNotice() : null}
        {!usesRules && estimate.data ? estimate.data.sentence : null}
        {!usesRules && !estimate.data && !estimate.error
          ? "Enter a text to see where it would be sent and roughly what it would cost."
          : null}
      </p>
      {second && second.evaluator !== "rules" && secondEstimate.data ? (
        <p role="status" className="text-sm">
          Second judge: {secondEstimate.data.sentence}
        </p>
      ) : null}
      {estimate.error && !usesRules ? <ErrorNotice error={estimate.error} /> : null}
      <Warnings warnings={estimate.data?.warnings ?? []} />
      <Button
        variant="primary"
        className="w-full py-2.5 text-lg"
        aria-disabled={busy || Boolean(missing)}
        aria-describedby="run-missing"
        onClick={() => {
          if (token.current || missing) return;
          token.current = startedToken.current ?? newToken();
          start.mutate(token.current);
        }}
      >
        {busy ? "Starting …" : draft.mode === "full" ? "Run Full Evaluation" : "Run Screening"}
      </Button>
      <p id="run-missing" className="text-center text-sm text-soft">
        {missing}
      </p>
      {start.error ? <ErrorNotice error={start.error} /> : null}
    </div>
  );
}
