import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api } from "@/api/client";
import type { ExampleTrialResult, TrialResult, TriedCheck } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { Button } from "@/components/Button";
import { ErrorNotice, Notice, Warnings } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle } from "@/lib/format";
import { useDraft } from "../evaluate/draft";
import { EvaluatorChoice } from "../evaluate/EvaluatorChoice";
import { useEditing } from "./editing";

/** Try the playbook as it is, on a sample text or on its examples. Nothing is stored. */
export function TryPanel() {
  const { document, findings, showAll } = useEditing();
  const { draft, apiKey } = useDraft();
  const [sample, setSample] = useState("");
  const id = useId();
  const usesRules = draft.evaluator === "rules";
  const key = usesRules ? "" : apiKey.trim();
  const evaluator = {
    evaluator: draft.evaluator,
    ...(draft.base_url && !usesRules ? { base_url: draft.base_url } : {}),
    ...(Number(draft.timeout) > 0 && !usesRules ? { timeout: Number(draft.timeout) } : {}),
  };
  const text = useMutation({
    mutationFn: () => api.tryPlaybook({ playbook: document, ai_output: sample, ...evaluator }, key),
    gcTime: 0,
  });
  const examples = useMutation({
    mutationFn: () => api.tryPlaybookExamples({ playbook: document, ...evaluator }, key),
    gcTime: 0,
  });
  // What only keeps the playbook from being saved, such as its version, does not keep it from being tried.
  const run = (mutation: { mutate: () => void }) => {
    showAll();
    mutation.mutate();
  };
  const busy = text.isPending || examples.isPending || !findings;
  return (
    <div className="grid gap-x-8 gap-y-4 md:grid-cols-[minmax(0,1fr)_20rem] md:grid-rows-[auto_1fr]">
      <div className="min-w-0">
        <label htmlFor={id} className="font-semibold">
          Sample text
        </label>
        <textarea
          id={id}
          rows={8}
          className="field resize-y font-serif"
          value={sample}
          spellCheck={false}
          placeholder="Paste a text that an AI wrote. It is judged once, and nothing is stored."
          onChange={(event) => setSample(event.target.value)}
        />
      </div>
      {/* Before the buttons, also on a phone: it says who is tried. */}
      <div className="min-w-0 md:row-span-2">
        <EvaluatorChoice />
      </div>
      <div className="min-w-0 space-y-3">
        <div className="flex flex-wrap gap-2">
          <Button disabled={busy || !sample.trim()} onClick={() => run(text)}>
            {text.isPending ? "Trying …" : "Try it on this text"}
          </Button>
          <Button disabled={busy} onClick={() => run(examples)}>
            {examples.isPending ? "Trying …" : "Try it on its examples"}
          </Button>
        </div>
        <div role="status" className="space-y-4">
          {text.error ? <ErrorNotice error={text.error} /> : null}
          {text.data ? <TextTrial result={text.data} /> : null}
          {examples.error ? <ErrorNotice error={examples.error} /> : null}
          {examples.data ? <ExampleTrial result={examples.data} /> : null}
        </div>
      </div>
    </div>
  );
}

function TextTrial({ result }: { result: TrialResult }) {
  return (
    <section aria-label="Result of the trial" className="space-y-2">
      <Warnings warnings={result.warnings} />
      <p className="text-sm text-soft">
        Judged once by <code>{result.evaluator}</code>. This is a trial: it is not in the history.
      </p>
      <ul className="space-y-3">
        {result.checks.map((check) => (
          <li key={check.check_id}>
            <TriedResult check={check} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ExampleTrial({ result }: { result: ExampleTrialResult }) {
  const wrong = result.examples.some(({ agrees }) => agrees === false);
  return (
    <section aria-label="Result on the examples" className="space-y-3">
      <Notice tone={wrong ? "amber" : "plain"}>{result.summary}</Notice>
      <ul className="space-y-3">
        {result.examples.map(({ check_id, number, expected, agrees, tried }) => (
          <li key={`${check_id} ${number}`}>
            <p className="flex flex-wrap items-center gap-2 text-sm">
              Example {number}, expected {expected.toUpperCase()}:
              {agrees === null ? <Label tone="grey">not judged</Label> : null}
              {agrees === true ? <Label tone="green">as expected</Label> : null}
              {agrees === false ? <Label tone="red">not as expected</Label> : null}
            </p>
            <TriedResult check={tried} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function TriedResult({ check }: { check: TriedCheck }) {
  return (
    <div className="border-rule border-l-[3px] pl-3 [overflow-wrap:anywhere]">
      <p className="flex flex-wrap items-center gap-2 font-semibold">
        <Badge value={check.result} /> <VisibleText>{checkTitle(check.check_id)}</VisibleText>
      </p>
      {check.notes ? (
        <p className="foreign text-sm">
          <VisibleText>{check.notes}</VisibleText>
        </p>
      ) : null}
      {check.quotes.map((quote) => (
        <p key={quote} className="foreign font-serif">
          “<VisibleText>{quote}</VisibleText>”
        </p>
      ))}
      {check.notices.map((notice) => (
        <p key={notice} className="text-sm text-soft">
          <VisibleText>{notice}</VisibleText>
        </p>
      ))}
    </div>
  );
}
