import { useMutation, useQuery } from "@tanstack/react-query";
import { type DragEvent, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import { Button, TextLink } from "@/components/Button";
import { PageTitle, Section, Table, TD } from "@/components/layout";
import { Pagination } from "@/components/Pagination";
import { ErrorNotice } from "@/components/states";
import { TextInput } from "@/components/TextInput";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { formatCount, formatTime, pluralize } from "@/lib/format";
import { useFilters } from "@/lib/useFilters";
import { useDraft } from "../evaluate/draft";
import { ModeChoice } from "../evaluate/EvaluatePage";
import { EvaluatorChoice } from "../evaluate/EvaluatorChoice";
import { PlaybookChoice } from "../evaluate/PlaybookChoice";
import { useRunsProblem } from "../evaluate/playbookRuns";
import { ReviewerField } from "../evaluate/ReviewerField";
import { rulesNotice } from "../evaluate/rulesNotice";
import { StorageChoice } from "../evaluate/StorageChoice";
import { ACCEPTED, type ChosenFile, droppedFiles, inputFiles, leftOutNames, MAX_DOCUMENTS, mergeFiles } from "./files";
import { startHandover } from "./handover";

export function DocumentsPage() {
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const [leftOut, setLeftOut] = useState<readonly string[]>([]);
  const [title, setTitle] = useState("");
  const add = (added: readonly ChosenFile[], folder: string) => {
    setFiles((current) => mergeFiles(current, added));
    setLeftOut((current) => leftOutNames(current, added));
    if (folder) setTitle((current) => current || folder);
  };
  return (
    <>
      <PageTitle lead="Evaluate a whole folder of texts written by an AI. You get one table with a row for each document and a column for each check. This is a test, not legal advice.">
        Many documents
      </PageTitle>
      <ForRole needs="reviewer">
        {" "}
        <form
          aria-label="Documents"
          onSubmit={(event) => event.preventDefault()}
          className="grid gap-x-10 gap-y-6 xl:grid-cols-[minmax(0,1fr)_23rem]"
        >
          <div className="min-w-0 space-y-5">
            <DropZone onFiles={add} />
            <FileList files={files} onChange={setFiles} />
            <LeftOut names={leftOut} />
            <Names title={title} onTitle={setTitle} />
          </div>
          <div className="space-y-6">
            <EvaluatorChoice />
            <ModeChoice />
            <StorageChoice />
            <PlaybookChoice />
            <StartButton files={files.slice(0, MAX_DOCUMENTS)} title={title} />
          </div>
        </form>
      </ForRole>{" "}
      <EarlierBatches />
    </>
  );
}

function DropZone({ onFiles }: { onFiles: (files: readonly ChosenFile[], folder: string) => void }) {
  const [dragging, setDragging] = useState(false);
  const fileInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const choose = (event: React.ChangeEvent<HTMLInputElement>) => {
    const chosen = event.target.files;
    if (chosen?.length) onFiles(inputFiles(chosen), chosen[0]?.webkitRelativePath.split("/")[0] ?? "");
    event.target.value = "";
  };
  return (
    <fieldset
      onDragOver={(event: DragEvent) => {
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={async (event: DragEvent) => {
        event.preventDefault();
        setDragging(false);
        const { files, folder } = await droppedFiles(event.dataTransfer);
        onFiles(files, folder);
      }}
      className={`rounded border-2 border-dashed px-6 py-8 text-center ${dragging ? "border-link bg-blue-tint" : "border-edge bg-card"}`}
    >
      <legend className="sr-only">Files</legend>
      <p className="font-serif text-lg">Drop a folder or several files here</p>
      <p className="mb-4 text-sm text-soft">
        .txt, .md, .docx or .pdf. Folders inside are read, too. Other files are left out.
      </p>
      <div className="flex flex-wrap justify-center gap-3">
        <Button onClick={() => folderInput.current?.click()}>Choose a folder</Button>
        <Button onClick={() => fileInput.current?.click()}>Choose files</Button>
      </div>
      <input
        ref={folderInput}
        type="file"
        className="hidden"
        tabIndex={-1}
        aria-label="Folder"
        onChange={choose}
        {...{ webkitdirectory: "" }}
      />
      <input
        ref={fileInput}
        type="file"
        multiple
        accept={ACCEPTED}
        className="hidden"
        tabIndex={-1}
        aria-label="Document files"
        onChange={choose}
      />
    </fieldset>
  );
}

function FileList({
  files,
  onChange,
}: {
  files: readonly ChosenFile[];
  onChange: (files: readonly ChosenFile[]) => void;
}) {
  const tooMany = files.length - MAX_DOCUMENTS;
  return (
    <div>
      <p role="status" className="font-semibold">
        {files.length ? `${pluralize(files.length, "document")} chosen` : "No documents chosen yet"}
      </p>
      {tooMany > 0 ? (
        <p role="status" className="mt-1">
          A batch has at most {formatCount(MAX_DOCUMENTS)} documents. The first ones by name are evaluated, and{" "}
          {pluralize(tooMany, "document")} at the end {tooMany === 1 ? "is" : "are"} not: evaluate the rest as another
          batch.
        </p>
      ) : null}
      {files.length ? (
        <ul
          aria-label="Chosen documents"
          className="mt-2 max-h-80 divide-y divide-rule overflow-y-auto rounded border border-rule bg-card"
        >
          {files.slice(0, MAX_DOCUMENTS).map(({ name }) => (
            <li key={name} className="flex items-center justify-between gap-3 px-3 py-1">
              <span className="[overflow-wrap:anywhere]">
                <VisibleText>{name}</VisibleText>
              </span>
              <Button
                variant="inline"
                className="text-sm"
                onClick={() => onChange(files.filter((other) => other.name !== name))}
              >
                Remove<span className="sr-only"> {name}</span>
              </Button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

const MAX_LEFT_OUT = 20;

/** The files that are not evaluated, so that nobody takes them for evaluated. */
function LeftOut({ names }: { names: readonly string[] }) {
  if (!names.length) return null;
  const more = names.length - MAX_LEFT_OUT;
  return (
    <p role="status" className="text-sm text-soft [overflow-wrap:anywhere]">
      Left out, because {names.length === 1 ? "it is not a document" : "they are not documents"}:{" "}
      <VisibleText>{names.slice(0, MAX_LEFT_OUT).join(", ")}</VisibleText>
      {more > 0 ? ` and ${more} more` : ""}.
    </p>
  );
}

function Names({ title, onTitle }: { title: string; onTitle: (title: string) => void }) {
  const { draft, change } = useDraft();
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <TextInput
        prominent
        label="Name"
        hint="What you call these documents, such as “Letters of May”."
        maxLength={200}
        autoComplete="off"
        value={title}
        onChange={onTitle}
      />
      <TextInput
        prominent
        label="Subject"
        hint="Groups them. A document is compared with its own earlier report on the same subject."
        maxLength={500}
        autoComplete="off"
        value={draft.subject}
        onChange={(subject) => change({ subject })}
      />
      <ReviewerField />
      <TextInput
        prominent
        label="Producer"
        hint="The AI that wrote all of them, such as “openai/gpt-5.5”. Every report lists it as declared by you."
        maxLength={500}
        autoComplete="off"
        value={draft.producer}
        onChange={(producer) => change({ producer })}
      />
    </div>
  );
}

function StartButton({ files, title }: { files: readonly ChosenFile[]; title: string }) {
  const { draft, apiKey } = useDraft();
  const navigate = useNavigate();
  const evaluators = useQuery(queries.evaluators());
  const usesRules = draft.evaluator === "rules";
  const runsProblem = useRunsProblem(draft);
  const provider = evaluators.data?.providers.find(({ name }) => draft.evaluator.startsWith(`${name}/`));
  const lent = provider?.models.every(({ needs_key }) => !needs_key) ?? false;
  const destination = draft.base_url ? new URL(draft.base_url).hostname : (provider?.host ?? "the model");
  const start = useMutation({
    mutationFn: () =>
      api.createDocumentBatch({
        title: title.trim() || pluralize(files.length, "document"),
        planned: files.length,
        ...(draft.subject.trim() ? { subject: draft.subject.trim() } : {}),
      }),
    onSuccess: ({ id }) => {
      startHandover(id, files, draft, usesRules ? "" : apiKey.trim());
      navigate(`/documents/${id}`);
    },
  });
  const missing = !files.length
    ? "Choose documents first."
    : !usesRules && !draft.base_url && !apiKey.trim() && !lent
      ? "Enter the API key first."
      : runsProblem;
  return (
    <div className="space-y-3 border-rule border-t pt-4">
      <p className="text-sm">
        {usesRules
          ? rulesNotice()
          : `Each document is sent to ${destination} for each of its checks${draft.mode === "full" ? ", once for each run" : ""}.`}
      </p>
      <Button
        variant="primary"
        className="w-full py-2.5 text-lg"
        aria-disabled={start.isPending || Boolean(missing)}
        aria-describedby="documents-missing"
        onClick={() => {
          if (!start.isPending && !missing) start.mutate();
        }}
      >
        {start.isPending ? "Starting …" : files.length ? `Evaluate ${pluralize(files.length, "document")}` : "Evaluate"}
      </Button>
      <p id="documents-missing" className="text-center text-sm text-soft">
        {missing}
      </p>
      {start.error ? <ErrorNotice error={start.error} /> : null}
    </div>
  );
}

const LIMIT = 20;

function EarlierBatches() {
  const [params, update] = useFilters();
  const offset = Number(params.get("offset")) || 0;
  const { data, error, refetch } = useQuery(queries.documentBatches({ offset, limit: LIMIT }));
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  if (!data?.total) return null;
  return (
    <Section
      title="Earlier batches"
      aside={<span className="text-soft">{pluralize(data.total, "batch", "batches")}</span>}
    >
      <Table label="Earlier batches" columns={["Name", "Documents", "Subject", "Started"]}>
        {data.entries.map((entry) => (
          <tr key={entry.id}>
            <td className={`${TD} [overflow-wrap:anywhere]`}>
              <TextLink to={`/documents/${entry.id}`}>
                <VisibleText>{entry.title}</VisibleText>
              </TextLink>
            </td>
            <td className={`${TD} whitespace-nowrap`}>
              {entry.reports} of {entry.planned} reported
            </td>
            <td className={`${TD} [overflow-wrap:anywhere]`}>
              <VisibleText>{entry.subject}</VisibleText>
            </td>
            <td className={`${TD} whitespace-nowrap`}>{formatTime(entry.created_at)}</td>
          </tr>
        ))}
      </Table>
      <Pagination offset={offset} limit={LIMIT} more={offset + LIMIT < data.total} onChange={update} />
    </Section>
  );
}
