import { useMutation } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { api } from "@/api/client";
import { Button } from "@/components/Button";
import { Failure } from "@/components/states";
import { counted, whole } from "@/lib/format";

interface Props {
  label: string;
  hint: string;
  value: string;
  onChange: (text: string) => void;
  rows: number;
  required?: boolean;
}

const ACCEPTED = ".txt,.md,.docx,.pdf";

/** A text to paste, or a file to drop on it: its text is read by the server, and nothing of it is stored. */
export function TextField({ label, hint, value, onChange, rows, required = false }: Props) {
  const id = useId();
  const chooser = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const read = useMutation({ mutationFn: api.readDocument, onSuccess: (found) => onChange(found.text) });
  const take = (file: File | undefined) => file && read.mutate(file);
  return (
    <fieldset
      aria-labelledby={`${id}-label`}
      onDragOver={(event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        if (!event.dataTransfer.files.length) return;
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files[0]);
      }}
    >
      <div className="mb-1 flex flex-wrap items-baseline justify-between gap-x-4">
        <label id={`${id}-label`} htmlFor={id} className="font-semibold">
          {label} {required ? <span className="font-normal text-soft">(required)</span> : null}
        </label>
        <span className="flex items-baseline gap-3 text-sm text-soft">
          {value ? <span>{counted(value.length, "character")}</span> : null}
          <Button look="quiet" className="px-1 py-0 text-sm" onClick={() => chooser.current?.click()}>
            Choose a file<span className="sr-only"> for {label}</span>
          </Button>
          <input
            ref={chooser}
            type="file"
            accept={ACCEPTED}
            className="hidden"
            tabIndex={-1}
            aria-label={`A file for ${label}`}
            onChange={(event) => {
              take(event.target.files?.[0]);
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
        className={`field resize-y font-serif leading-relaxed ${over ? "border-link bg-blue-tint outline-2 outline-link outline-dashed" : ""}`}
      />
      <p role="status" className="text-sm text-soft">
        {read.isPending ? `Reading ${read.variables.name} …` : null}
        {read.isSuccess && value === read.data.text
          ? `From ${read.data.name}${read.data.pages ? `, ${counted(read.data.pages, "page")}` : ""}: ${whole(read.data.characters)} characters.`
          : null}
      </p>
      {read.isError ? <Failure fault={read.error} /> : null}
    </fieldset>
  );
}
