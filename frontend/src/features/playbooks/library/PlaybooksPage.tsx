import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { PlaybookEntry } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button, TextLink } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Details } from "@/components/Details";
import { FileChooser, JSON_FILES } from "@/components/FileChooser";
import { LongText } from "@/components/LongText";
import { type Fact, FactRows, PageTitle, Section } from "@/components/layout";
import { ErrorNotice, Loading } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle } from "@/lib/format";
import { useFileDrop } from "@/lib/useFileDrop";
import { useDraft } from "../evaluate/draft";
import { Findings } from "../Findings";

export function PlaybooksPage() {
  const { data, error, refetch } = useQuery(queries.playbooks());
  return (
    <div className="max-w-4xl">
      <PageTitle lead="A playbook defines the test: what each check looks for, how it is judged, and what counts as evidence. Every report contains the logic hash of its playbook.">
        Playbooks
      </PageTitle>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the playbooks" /> : null}
      <div className="space-y-4">
        {data?.map((playbook) => (
          <PlaybookCard key={playbook.logic_hash} playbook={playbook} />
        ))}
      </div>
      <PlaybookValidator />
    </div>
  );
}

function PlaybookCard({ playbook }: { playbook: PlaybookEntry }) {
  const [open, setOpen] = useState(false);
  return (
    <article className="rounded border border-rule bg-card p-5">
      <h2 className="text-xl">
        <VisibleText>{playbook.title}</VisibleText>
      </h2>
      {playbook.used_by ? (
        <p className="mt-1 text-soft">
          Not part of the library. Stored with evaluations, most recently{" "}
          <TextLink to={`/evaluations/${playbook.used_by}`}>{playbook.used_by}</TextLink>.
        </p>
      ) : null}
      <FactRows facts={playbookFacts(playbook)} />
      <Button className="mt-3" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Hide details" : "Show details"}
      </Button>
      {open ? <PlaybookDetails playbook={playbook} /> : null}
    </article>
  );
}

function playbookFacts(playbook: PlaybookEntry): Fact[] {
  return [
    { name: "Id and version", value: `${playbook.id} ${playbook.version}`, code: true },
    { name: "Checks", value: `${playbook.checks}, ${playbook.judged} of them judged by the evaluator` },
    { name: "Runs", value: `at least ${playbook.min_runs} in full mode` },
    ...(playbook.intended_use.length ? [{ name: "Intended use", value: playbook.intended_use.join("; ") }] : []),
    { name: "Logic hash", value: playbook.logic_hash, code: true, copy: true },
  ];
}

function PlaybookDetails({ playbook }: { playbook: PlaybookEntry }) {
  // A library playbook is identified by its id; others may share one, so use the hash.
  const { data, error, refetch } = useQuery(queries.playbook(playbook.used_by ? playbook.logic_hash : playbook.id));
  const navigate = useNavigate();
  const { change } = useDraft();
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  if (!data) return <Loading label="the playbook" />;
  const text = JSON.stringify(data.document, null, 2);
  return (
    <div className="mt-4 space-y-4">
      <Button
        variant="primary"
        onClick={() => {
          const uploaded = playbook.used_by ? { name: `${playbook.id} ${playbook.version}`, text } : null;
          change({ playbook: uploaded, playbook_id: uploaded ? "" : playbook.id });
          navigate("/");
        }}
      >
        Evaluate a text with this playbook
      </Button>
      <ol className="space-y-3">
        {readChecks(data.document).map((check) => (
          <li key={check.id} className="border-rule border-l-[3px] pl-4">
            <h3 className="flex flex-wrap items-center gap-2 font-semibold">
              <VisibleText>{checkTitle(check.id)}</VisibleText>
              <Label tone={check.severity === "high" ? "amber" : "plain"}>{check.severity}</Label>
            </h3>
            <p className="foreign">
              <VisibleText>{check.question}</VisibleText>
            </p>
            <p className="foreign mt-1 text-sm text-soft">
              <VisibleText>{check.instructions}</VisibleText>
            </p>
            {check.hints.length ? (
              <p className="mt-1 text-sm text-soft">
                Pattern hints: <VisibleText>{check.hints.join(", ")}</VisibleText>
              </p>
            ) : null}
          </li>
        ))}
      </ol>
      <Details title="Full document">
        <CopyButton text={text} label="the playbook" />
        <LongText text={text} label="Full document" expanded />
      </Details>
    </div>
  );
}

interface CheckEntry {
  id: string;
  severity: string;
  question: string;
  instructions: string;
  hints: string[];
}

/** Read the checks from an untrusted document; unexpected parts are left out. */
function readChecks(document: Record<string, unknown>): CheckEntry[] {
  const checks = Array.isArray(document.checks) ? (document.checks as Record<string, unknown>[]) : [];
  return checks.map((check) => {
    const method = (check.detection_method ?? {}) as Record<string, unknown>;
    return {
      id: String(check.id),
      severity: String(check.severity),
      question: String(check.question),
      instructions: String(method.instructions ?? ""),
      hints: Array.isArray(method.pattern_hints) ? method.pattern_hints.map(String) : [],
    };
  });
}

function PlaybookValidator() {
  const check = useMutation({
    mutationFn: async (file: File) => ({ name: file.name, result: await api.validatePlaybook(await file.text()) }),
  });
  const { dragging, handlers } = useFileDrop(check.mutate);
  return (
    <Section title="Validate your own playbook">
      <fieldset
        aria-label="Playbook file"
        className={`rounded border border-edge border-dashed px-6 py-8 text-center ${dragging ? "bg-blue-tint" : ""}`}
        {...handlers}
      >
        <p className="mb-3 text-soft">
          Drop a JSON file here. It is validated but not stored. To use it, upload it on the Evaluate page.
        </p>
        <FileChooser label="Playbook to validate" accept={JSON_FILES} onFile={check.mutate} disabled={check.isPending}>
          {check.isPending ? "Checking …" : "Choose a file"}
        </FileChooser>
      </fieldset>
      <div className="mt-4 space-y-4">
        {check.error ? <ErrorNotice error={check.error} /> : null}
        {check.data ? <Findings result={check.data.result} name={check.data.name} /> : null}
        {check.data?.result.playbook ? <FactRows facts={playbookFacts(check.data.result.playbook)} /> : null}
      </div>
    </Section>
  );
}
