import { useMutation } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { api } from "@/api/client";
import type { DocumentText } from "@/api/types";
import { Button } from "@/components/Button";
import { ErrorNotice } from "@/components/states";
import { pluralize } from "@/lib/format";

interface TextFieldProps {
  label: string;
  hint: string;
  value: string;
  onChange: (text: string) => void;
  rows: number;
  required?: boolean;
}

const ACCEPTED = ".txt,.md,.docx,.pdf";

/** A text to paste, or a file to drop on it: its text is read by the server, and nothing of it is stored. */
export function TextField({ label, hint, value, onChange, rows, required = false }: TextFieldProps) {
  const id = useId();
  const chooser = useRef<HTMLInputElement>(null);
  const [dragging, setDragging] = useState(false);
  const read = useMutation({ mutationFn: api.readDocument, onSuccess: (document) => onChange(document.text) });
  const readFile = (file: File | undefined) => file && read.mutate(file);
  return (
    <fieldset
      onDragOver={(event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        if (!event.dataTransfer.files.length) return;
        event.preventDefault();
        setDragging(false);
        readFile(event.dataTransfer.files[0]);
      }}
    >
      <div className="mb-1 flex items-baseline justify-between gap-x-2">
        <label htmlFor={id} className="font-semibold">
          {label} {required ? <span className="font-normal text-soft">(required)</span> : null}
        </label>
        <span className="whitespace-nowrap text-sm">
          <Button variant="text" className="px-1 py-0 text-sm" onClick={() => chooser.current?.click()}>
            Choose a file<span className="sr-only"> for {label}</span>
          </Button>
          <input
            ref={chooser}
            type="file"
            accept={ACCEPTED}
            className="hidden"
            tabIndex={-1}
            aria-hidden="true"
            onChange={(event) => {
              readFile(event.target.files?.[0]);
              event.target.value = "";
            }}
          />
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
      {read.isError ? <ErrorNotice error={read.error} /> : null}
    </fieldset>
  );
}

/** How long it is, and which file it came from where it is still that file's text. */
function describeText(value: string, document: DocumentText | undefined): string {
  const length = pluralize(value.length, "character");
  if (document?.text !== value) return length;
  return `From ${document.name}: ${document.pages ? `${pluralize(document.pages, "page")}, ` : ""}${length}`;
}
