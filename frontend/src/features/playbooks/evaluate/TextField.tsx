import { useMutation } from "@tanstack/react-query";
import { useId } from "react";
import { api } from "@/api/client";
import type { DocumentText } from "@/api/types";
import { FileChooser } from "@/components/FileChooser";
import { ErrorNotice } from "@/components/states";
import { pluralize } from "@/lib/format";
import { useFileDrop } from "@/lib/useFileDrop";

interface TextFieldProps {
  label: string;
  hint: string;
  value: string;
  onChange: (text: string) => void;
  rows: number;
  required?: boolean;
}

const ACCEPTED = ".txt,.md,.docx,.pdf";

/** A text area that also accepts a file. The server extracts the file's text and stores nothing of it. */
export function TextField({ label, hint, value, onChange, rows, required = false }: TextFieldProps) {
  const id = useId();
  const read = useMutation({ mutationFn: api.readDocument, onSuccess: (document) => onChange(document.text) });
  const { dragging, handlers } = useFileDrop(read.mutate);
  return (
    <fieldset {...handlers}>
      <div className="mb-1 flex items-baseline justify-between gap-x-2">
        <label htmlFor={id} className="font-semibold">
          {label} {required ? <span className="font-normal text-soft">(required)</span> : null}
        </label>
        <span className="whitespace-nowrap text-sm">
          <FileChooser
            label="Text file"
            accept={ACCEPTED}
            onFile={read.mutate}
            variant="text"
            className="px-1 py-0 text-sm"
          >
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
        className={`field resize-y font-serif leading-relaxed ${dragging ? "border-link bg-blue-tint outline-2 outline-link outline-dashed" : ""}`}
      />
      <p role="status" className="min-h-5 text-sm text-soft">
        {read.isPending ? `Reading ${read.variables.name} …` : null}
        {!read.isPending && value ? describeText(value, read.data) : null}
      </p>
      {read.data?.warning && read.data.text === value ? (
        <p role="alert" className="text-sm">
          <strong>Warning:</strong> {read.data.warning}
        </p>
      ) : null}
      {read.isError ? <ErrorNotice error={read.error} /> : null}
    </fieldset>
  );
}

/** The length of the text, and the file it came from if it was not edited since. */
function describeText(value: string, document: DocumentText | undefined): string {
  const length = pluralize(value.length, "character");
  if (document?.text !== value) return length;
  return `From ${document.name}: ${document.pages ? `${pluralize(document.pages, "page")}, ` : ""}${length}`;
}
