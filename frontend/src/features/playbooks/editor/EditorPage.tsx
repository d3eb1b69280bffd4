import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { PlaybookDocument, SavedVersion } from "@/api/types";
import { Button, TextLink } from "@/components/Button";
import { Details } from "@/components/Details";
import { PageTitle, Section } from "@/components/layout";
import { ErrorNotice, Loading, Notice, PageError } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";
import { useReviewerName } from "../review/reviewer";
import { ChecksForm } from "./CheckForm";
import { copyDocument, newDocument, textAt } from "./document";
import { EditingProvider, useEditing } from "./editing";
import { fieldId } from "./fields";
import { MetadataForm, ScopeForm } from "./MetadataForm";
import { TryPanel } from "./TryPanel";

/** A new playbook, a copy of another one (?copy=), or the next version of a saved one. */
export function EditorPage() {
  const { id } = useParams();
  const [params] = useSearchParams();
  const source = id ?? params.get("copy");
  const { data, error, refetch } = useQuery({ ...queries.playbook(source ?? ""), enabled: source !== null, gcTime: 0 });
  const [today] = useState(() => new Date().toISOString().slice(0, 10));
  if (error) return <PageError title="Edit a playbook" error={error} onRetry={refetch} />;
  if (source === null) return <Editor key="new" initial={newDocument(today)} saved={null} />;
  if (!data) return <Loading label="the playbook" />;
  const document = data.document as PlaybookDocument;
  if (id === undefined) return <Editor key={`copy ${source}`} initial={copyDocument(document, today)} saved={null} />;
  const { saved } = data.listed;
  return <Editor key={`${id} ${saved?.number}`} initial={document} saved={saved} />;
}

function Editor({ initial, saved }: { initial: PlaybookDocument; saved: SavedVersion | null }) {
  const [document] = useState(initial);
  return (
    <EditingProvider initial={document} savedVersion={saved?.version ?? null}>
      <div className="max-w-4xl">
        <PageTitle lead="A playbook is a set of checks. Each check asks one question about a text that an AI wrote, and says how it is answered.">
          {saved ? `Edit ${textAt(document, ["metadata", "title"]) || saved.playbook_id}` : "New playbook"}
        </PageTitle>
        <SavedNote saved={saved} />
        <ErrorSummary />
        <Section title="About the playbook">
          <MetadataForm isNew={saved === null} />
        </Section>
        <Section title="Checks">
          <ChecksForm />
        </Section>
        <Section title="Scope and runs">
          <ScopeForm />
        </Section>
        <Section title="Try it">
          <TryPanel />
        </Section>
        <SaveForm saved={saved} />
      </div>
    </EditingProvider>
  );
}

function SavedNote({ saved }: { saved: SavedVersion | null }) {
  if (!saved) return null;
  return (
    <p className="text-soft">
      Version <VisibleText>{saved.version}</VisibleText> was saved by <VisibleText>{saved.saved_by}</VisibleText>. It
      stays as it is: what you save becomes another version.
    </p>
  );
}

/** Every error in words, with a button that leads to its field. Shown after an attempt to save. */
function ErrorSummary() {
  const { findings, checkError } = useEditing();
  const warnings = findings?.findings.filter(({ level }) => level === "warning") ?? [];
  return (
    <div className="mt-3 space-y-3 empty:hidden">
      {checkError ? <ErrorNotice error={checkError} /> : null}
      {warnings.length ? (
        <Details title={pluralize(warnings.length, "suggestion")}>
          <ul className="space-y-1 text-sm">
            {warnings.map(({ path, place, message }) => (
              <li key={`${path} ${message}`} className="[overflow-wrap:anywhere]">
                <strong>
                  <VisibleText>{place}</VisibleText>
                </strong>{" "}
                <VisibleText>{message}</VisibleText>
              </li>
            ))}
          </ul>
        </Details>
      ) : null}
    </div>
  );
}

/** Bring the field with this path into view, or its nearest ancestor that is shown. */
function focusField(path: string): void {
  for (let place = path; place.length > 1; place = place.replace(/(\.[^.[]*|\[[^[]*\])$/, "")) {
    const field = document.getElementById(fieldId(place));
    if (field) {
      field.focus();
      return;
    }
  }
}

function SaveForm({ saved }: { saved: SavedVersion | null }) {
  const editing = useEditing();
  const [name, setName] = useReviewerName();
  const [note, setNote] = useState("");
  const [tried, setTried] = useState(false);
  const id = useId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      api.savePlaybook({
        playbook: editing.document,
        saved_by: name.trim(),
        note: note.trim(),
        based_on: saved?.number ?? null,
      }),
    onSuccess: async ({ listed }) => {
      await client.invalidateQueries({ queryKey: ["playbooks"] });
      navigate(`/playbooks?saved=${encodeURIComponent(listed.id)}`);
    },
  });
  const errors = editing.findings?.findings.filter(({ level }) => level === "error") ?? [];
  const isUnchanged = saved !== null && !editing.isChanged;
  const missing = !name.trim() ? "Enter your name." : isUnchanged ? "Nothing was changed yet." : "";
  return (
    <section aria-label="Save" className="mt-9 sm:sticky sm:bottom-0 space-y-3 border-ink border-t-2 bg-paper py-3">
      {tried && errors.length ? (
        <div role="alert">
          <Notice tone="red">
            <p className="font-semibold">{`${pluralize(errors.length, "thing")} to correct before this can be saved:`}</p>
            <ul className="mt-1 max-h-40 list-disc space-y-1 overflow-y-auto pl-5">
              {errors.map(({ path, place, message }) => (
                <li key={`${path} ${message}`} className="[overflow-wrap:anywhere]">
                  <button type="button" className="text-left underline" onClick={() => focusField(path)}>
                    <VisibleText>{`${place} ${message}.`}</VisibleText>
                  </button>
                </li>
              ))}
            </ul>
          </Notice>
        </div>
      ) : null}
      {save.error ? <ErrorNotice error={save.error} /> : null}
      <div className="grid items-end gap-3 sm:grid-cols-[12rem_minmax(0,1fr)_auto]">
        <div>
          <label htmlFor={`${id}-name`} className="block text-sm text-soft">
            Your name
          </label>
          <input
            id={`${id}-name`}
            className="field"
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div>
          <label htmlFor={`${id}-note`} className="block text-sm text-soft">
            What you changed (optional)
          </label>
          <input
            id={`${id}-note`}
            className="field"
            value={note}
            maxLength={500}
            onChange={(event) => setNote(event.target.value)}
          />
        </div>
        <Button
          variant="primary"
          aria-disabled={Boolean(missing) || save.isPending || !editing.findings}
          aria-describedby={`${id}-missing`}
          onClick={() => {
            editing.showAll();
            setTried(true);
            if (!missing && editing.findings?.valid && !save.isPending) save.mutate();
          }}
        >
          {save.isPending ? "Saving …" : <SaveLabel />}
        </Button>
      </div>
      <p id={`${id}-missing`} className="text-sm text-soft">
        {missing} {saved ? <TextLink to="/playbooks">Back to the list without saving</TextLink> : null}
      </p>
    </section>
  );
}

function SaveLabel() {
  const { document } = useEditing();
  return (
    <>
      Save version <VisibleText>{textAt(document, ["metadata", "version"])}</VisibleText>
    </>
  );
}
