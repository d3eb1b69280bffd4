import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { PlaybookListed } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button } from "@/components/Button";
import { Copy } from "@/components/Copy";
import { FileChooser, JSON_FILES } from "@/components/FileChooser";
import { Fold } from "@/components/Fold";
import { type Fact, PageTitle, Rows, Section } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Failure, Loading } from "@/components/states";
import { title } from "@/lib/format";
import { useDraft } from "../evaluate/draft";
import { Findings } from "../Findings";

export function PlaybooksPage() {
  const { data, error, refetch } = useQuery(queries.playbooks());
  return (
    <div className="max-w-4xl">
      <PageTitle lead="A playbook is the test: its checks say what to look for, how it is judged, and what counts as evidence. Its logic hash stands in every report made with it.">
        Playbooks
      </PageTitle>
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {!data && !error ? <Loading what="the playbooks" /> : null}
      <div className="space-y-4">
        {data?.map((each) => (
          <Listed key={each.logic_hash} of={each} />
        ))}
      </div>
      <Validator />
    </div>
  );
}

function Listed({ of }: { of: PlaybookListed }) {
  const [open, setOpen] = useState(false);
  return (
    <article className="rounded border border-rule bg-card p-5">
      <h2 className="text-xl">
        <Seen>{of.title}</Seen>
      </h2>
      {of.used_by ? (
        <p className="mt-1 text-soft">
          Not of the library: stored with evaluations, the newest being{" "}
          <Link to={`/evaluations/${of.used_by}`} className="text-link underline">
            {of.used_by}
          </Link>
          .
        </p>
      ) : null}
      <Rows of={facts(of)} />
      <Button className="mt-3" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Close" : "Look inside"}
      </Button>
      {open ? <Inside of={of} /> : null}
    </article>
  );
}

function facts(of: PlaybookListed): Fact[] {
  return [
    { name: "Id and version", value: `${of.id} ${of.version}`, code: true },
    { name: "Checks", value: `${of.checks}, of which ${of.judged} are judged by the evaluator` },
    { name: "Runs", value: `at least ${of.min_runs} in full mode` },
    ...(of.intended_use.length ? [{ name: "Intended use", value: of.intended_use.join("; ") }] : []),
    { name: "Logic hash", value: of.logic_hash, code: true, copy: true },
  ];
}

function Inside({ of }: { of: PlaybookListed }) {
  // One of the library goes by its id; of the others several may have the same.
  const { data, error, refetch } = useQuery(queries.playbook(of.used_by ? of.logic_hash : of.id));
  const navigate = useNavigate();
  const { change } = useDraft();
  if (error) return <Failure fault={error} retry={refetch} />;
  if (!data) return <Loading what="the playbook" />;
  const text = JSON.stringify(data.document, null, 2);
  return (
    <div className="mt-4 space-y-4">
      <Button
        look="main"
        onClick={() => {
          const own = of.used_by ? { name: `${of.id} ${of.version}`, text } : null;
          change({ playbook: own, playbook_id: own ? "" : of.id });
          navigate("/");
        }}
      >
        Evaluate a text with it
      </Button>
      <ol className="space-y-3">
        {checksOf(data.document).map((check) => (
          <li key={check.id} className="border-rule border-l-[3px] pl-4">
            <h3 className="flex flex-wrap items-center gap-2 font-semibold">
              <Seen>{title(check.id)}</Seen>
              <Label tone={check.severity === "high" ? "amber" : "plain"}>{check.severity}</Label>
            </h3>
            <p className="foreign">
              <Seen>{check.question}</Seen>
            </p>
            <p className="foreign mt-1 text-sm text-soft">
              <Seen>{check.instructions}</Seen>
            </p>
            {check.hints.length ? (
              <p className="mt-1 text-sm text-soft">
                Pattern hints: <Seen>{check.hints.join(", ")}</Seen>
              </p>
            ) : null}
          </li>
        ))}
      </ol>
      <Fold title="The whole document">
        <Copy text={text} what="the playbook" />
        <section
          aria-label="The whole document"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="foreign max-h-[32rem] overflow-auto font-mono text-sm"
        >
          <Seen>{text}</Seen>
        </section>
      </Fold>
    </div>
  );
}

interface ShownCheck {
  id: string;
  severity: string;
  question: string;
  instructions: string;
  hints: string[];
}

/** A playbook is a document of others: what is not as expected is left out, not trusted. */
function checksOf(document: Record<string, unknown>): ShownCheck[] {
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

function Validator() {
  const [over, setOver] = useState(false);
  const check = useMutation({
    mutationFn: async (file: File) => ({ name: file.name, found: await api.validate(await file.text()) }),
  });
  return (
    <Section title="Validate a playbook of your own">
      <fieldset
        aria-label="A playbook’s file"
        className={`rounded border border-edge border-dashed px-6 py-8 text-center ${over ? "bg-blue-tint" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const file = event.dataTransfer.files[0];
          if (file) check.mutate(file);
        }}
      >
        <p className="mb-3 text-soft">
          Drop its JSON file here. It is checked and not stored; to use it, upload it on the page Evaluate.
        </p>
        <FileChooser
          label="A playbook to validate"
          accept={JSON_FILES}
          choose={check.mutate}
          disabled={check.isPending}
        >
          {check.isPending ? "Checking …" : "Choose a file"}
        </FileChooser>
      </fieldset>
      <div className="mt-4 space-y-4">
        {check.error ? <Failure fault={check.error} /> : null}
        {check.data ? <Findings of={check.data.found} name={check.data.name} /> : null}
        {check.data?.found.playbook ? <Rows of={facts(check.data.found.playbook)} /> : null}
      </div>
    </Section>
  );
}
