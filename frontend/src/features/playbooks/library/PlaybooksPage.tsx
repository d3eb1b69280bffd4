import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { PlaybookEntry, SavedVersion } from "@/api/types";
import { Label } from "@/components/Badge";
import { Button, ButtonLink, DownloadLink, TextLink } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Details } from "@/components/Details";
import { LongText } from "@/components/LongText";
import { FactRows, PageTitle, Section } from "@/components/layout";
import { ErrorNotice, Loading } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { checkTitle, formatTime } from "@/lib/format";
import { useDraft } from "../evaluate/draft";
import { useReviewerName } from "../review/reviewer";
import { playbookFacts } from "./facts";
import { ImportPlaybook } from "./ImportPlaybook";

export function PlaybooksPage() {
  const { data, error, refetch } = useQuery(queries.playbooks());
  return (
    <div className="max-w-4xl">
      <PageTitle lead="A playbook defines the test: what each check looks for, how it is judged, and what counts as evidence. Every report contains the logic hash of its playbook.">
        Playbooks
      </PageTitle>
      <ForRole needs="reviewer">
        <p className="mb-6">
          <ButtonLink to="/playbooks/new" variant="primary">
            New playbook
          </ButtonLink>
        </p>
      </ForRole>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the playbooks" /> : null}
      <div className="space-y-4">
        {data?.map((playbook) => (
          <PlaybookCard key={playbook.logic_hash} playbook={playbook} />
        ))}
      </div>
      <ForRole needs="reviewer">
        <WithdrawnPlaybooks />
        <ImportPlaybook />
      </ForRole>
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
      {playbook.saved ? <SavedLine saved={playbook.saved} /> : null}
      {playbook.used_by ? (
        <p className="mt-1 text-soft">
          Neither part of the library nor saved. Stored with evaluations, most recently{" "}
          <TextLink to={`/evaluations/${playbook.used_by}`}>{playbook.used_by}</TextLink>.
        </p>
      ) : null}
      <FactRows facts={playbookFacts(playbook)} />
      <div className="mt-3 flex flex-wrap gap-2">
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide details" : "Show details"}
        </Button>
        {playbook.saved ? (
          <>
            <ForRole needs="reviewer">
              <ButtonLink to={`/playbooks/${encodeURIComponent(playbook.id)}/edit`}>Edit</ButtonLink>
            </ForRole>
            <ButtonLink to={`/playbooks/${encodeURIComponent(playbook.id)}/versions`}>Versions</ButtonLink>
            <DownloadLink href={api.playbookExportUrl(playbook.id, playbook.saved.number)}>Export JSON</DownloadLink>
            <ForRole needs="reviewer">
              <ListingButton playbook={playbook} action="withdraw" />
            </ForRole>
          </>
        ) : null}
        <ForRole needs="reviewer">
          <ButtonLink to={`/playbooks/new?copy=${encodeURIComponent(playbookKey(playbook))}`}>Edit a copy</ButtonLink>
        </ForRole>
      </div>
      {open ? <PlaybookDetails playbook={playbook} /> : null}
    </article>
  );
}

/** Its id in the API: others than those of the library and saved ones may share an id, so their hash is used. */
function playbookKey(playbook: PlaybookEntry): string {
  return playbook.used_by ? playbook.logic_hash : playbook.id;
}

function SavedLine({ saved }: { saved: SavedVersion }) {
  return (
    <p className="mt-1 text-soft">
      Version {saved.number}, saved by <VisibleText>{saved.saved_by}</VisibleText> on {formatTime(saved.saved_at)}
      {saved.note ? (
        <>
          : <VisibleText>{saved.note}</VisibleText>
        </>
      ) : null}
    </p>
  );
}

function ListingButton({ playbook, action }: { playbook: PlaybookEntry; action: "withdraw" | "restore" }) {
  const [name] = useReviewerName();
  const client = useQueryClient();
  const by = name.trim() || "unknown";
  const change = useMutation({
    mutationFn: () =>
      action === "withdraw" ? api.withdrawPlaybook(playbook.id, by) : api.restorePlaybook(playbook.id, by),
    onSuccess: () => client.invalidateQueries({ queryKey: ["playbooks"] }),
  });
  return (
    <>
      <Button disabled={change.isPending} onClick={() => change.mutate()}>
        {action === "withdraw" ? "Take off the list" : "Put back on the list"}
      </Button>
      {change.error ? <ErrorNotice error={change.error} /> : null}
    </>
  );
}

function WithdrawnPlaybooks() {
  const { data } = useQuery(queries.withdrawnPlaybooks());
  if (!data?.length) return null;
  return (
    <Section title="Taken off the list">
      <ul className="space-y-3">
        {data.map((playbook) => (
          <li key={playbook.id} className="flex flex-wrap items-center gap-3">
            <span className="[overflow-wrap:anywhere]">
              {playbook.title === playbook.id ? null : <VisibleText>{`${playbook.title} `}</VisibleText>}
              <code>{playbook.id}</code>
            </span>
            <ListingButton playbook={playbook} action="restore" />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function PlaybookDetails({ playbook }: { playbook: PlaybookEntry }) {
  const { data, error, refetch } = useQuery(queries.playbook(playbookKey(playbook)));
  const navigate = useNavigate();
  const { change } = useDraft();
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  if (!data) return <Loading label="the playbook" />;
  const text = JSON.stringify(data.document, null, 2);
  return (
    <div className="mt-4 space-y-4">
      <ForRole needs="reviewer">
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
      </ForRole>
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
