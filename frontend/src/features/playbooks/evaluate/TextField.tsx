import { useMutation } from "@tanstack/react-query";
import { useId, useRef } from "react";
import { api, type DocumentFile } from "@/api/client";
import { toProblem } from "@/api/errors";
import type { DocumentText } from "@/api/types";
import { Button } from "@/components/Button";
import { FileChooser } from "@/components/FileChooser";
import { ProblemNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";
import { useFileDrop } from "@/lib/useFileDrop";

interface TextFieldProps {
  label: string;
  hint: string;
  value: string;
  onChange: (text: string) => void;
  /** What is pasted replaces the whole text. */
  onReplace?: () => void;
  /** The text of a file was read. */
  onDocument: (document: DocumentText) => void;
  rows: number;
  required?: boolean;
}

const ACCEPTED = ".txt,.md,.docx,.pdf";

/** A text area that also accepts a file. The server extracts the file's text and stores nothing of it. */
export function TextField({
  label,
  hint,
  value,
  onChange,
  onReplace,
  onDocument,
  rows,
  required = false,
}: TextFieldProps) {
  const id = useId();
  const latest = useRef<DocumentFile | null>(null);
  const read = useMutation({
    mutationFn: api.readDocument,
    // The field is empty until a file was read: another text in it would be taken for the file's.
    onMutate: (chosen) => {
      latest.current = chosen;
      onChange("");
    },
    onSuccess: (document, chosen) => {
      if (latest.current === chosen) onDocument(document);
    },
  });
  const choose = (file: File) => read.mutate({ file });
  const { dragging, handlers } = useFileDrop(choose);
  return (
    <fieldset {...handlers}>
      <div className="mb-1 flex items-baseline justify-between gap-x-2">
        <label htmlFor={id} className="font-semibold">
          {label} {required ? <span className="font-normal text-soft">(required)</span> : null}
        </label>
        <span className="whitespace-nowrap text-sm">
          <FileChooser label="Text file" accept={ACCEPTED} onFile={choose} variant="inline" className="text-sm">
            Choose a file<span className="sr-only"> for {label}</span>
          </FileChooser>
        </span>
      </div>
      <textarea
        id={id}
        value={value}
        rows={rows}
        required={required}
        spellCheck={false}
        autoComplete="off"
        placeholder={hint}
        onChange={(event) => onChange(event.target.value)}
        onPaste={({ currentTarget: { selectionStart, selectionEnd } }) => {
          if (value && selectionStart === 0 && selectionEnd === value.length) onReplace?.();
        }}
        className={`field resize-y font-serif leading-relaxed ${dragging ? "border-link bg-blue-tint outline-2 outline-link outline-dashed" : ""}`}
      />
      <p role="status" className="min-h-5 text-sm text-soft">
        {read.isPending ? `Reading ${read.variables.file.name} …` : null}
        {!read.isPending && value ? describeText(value, read.data) : null}
      </p>
      {read.data?.text === value ? <ReadingNotices notices={read.data.notices} /> : null}
      {read.isError && !value ? (
        <FailedFile
          name={read.variables.file.name}
          error={read.error}
          onWindows1252={() => read.mutate({ file: read.variables.file, encoding: "windows-1252" })}
        />
      ) : null}
    </fieldset>
  );
}

/** What was assumed about the file, and what of it is not part of the text. */
function ReadingNotices({ notices }: { notices: readonly string[] }) {
  return (
    <ul role="status" className="text-sm">
      {notices.map((notice) => (
        <li key={notice}>
          <strong>Notice:</strong> <VisibleText>{notice}</VisibleText>
        </li>
      ))}
    </ul>
  );
}

interface FailedFileProps {
  name: string;
  error: unknown;
  onWindows1252: () => void;
}

/** Names the file that was not read. A file that may be Windows-1252 is read as that only if the user says so. */
function FailedFile({ name, error, onWindows1252 }: FailedFileProps) {
  const problem = toProblem(error);
  const message = problem.message.startsWith(name) ? problem.message : `${name} was not read. ${problem.message}`;
  return (
    <>
      <ProblemNotice problem={{ ...problem, message }} />
      {problem.code === "not_utf8" ? (
        <Button className="mt-2 text-sm" onClick={onWindows1252}>
          Read it as Windows-1252
        </Button>
      ) : null}
    </>
  );
}

/** The length of the text, and the file it came from if it was not edited since. */
function describeText(value: string, document: DocumentText | undefined): string {
  const length = pluralize(value.length, "character");
  if (document?.text !== value) return length;
  return `From ${document.name}: ${document.pages ? `${pluralize(document.pages, "page")}, ` : ""}${length}`;
}
