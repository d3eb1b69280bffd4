/** Fields of the editor: a label, a hint, the value at a path of the document, and what is wrong with it. */
import { useId } from "react";
import { VisibleText } from "@/components/VisibleText";
import { jsonPath, type Path, textAt, textsAt, valueAt } from "./document";
import { useEditing } from "./editing";

interface FieldProps {
  label: string;
  path: Path;
  hint?: string;
}

/** The id of the element that edits the value at a path, for the list of errors. */
export function fieldId(path: string): string {
  return `field-${path.replace(/[^\w]+/g, "-")}`;
}

function useField(path: Path) {
  const editing = useEditing();
  const id = useId();
  const problems = editing.problemsAt(path);
  return {
    editing,
    problems,
    errorId: `${id}-error`,
    attributes: {
      id: fieldId(jsonPath(path)),
      "aria-describedby": `${id}-hint ${id}-error`,
      "aria-invalid": problems.length > 0,
      onBlur: () => editing.touch(path),
    },
    hintId: `${id}-hint`,
  };
}

function Frame({
  label,
  htmlFor,
  hint,
  hintId,
  errorId,
  problems,
  children,
}: {
  label: string;
  htmlFor: string;
  hint: string | undefined;
  hintId: string;
  errorId: string;
  problems: { place: string; message: string }[];
  children: React.ReactNode;
}) {
  return (
    <div>
      <label htmlFor={htmlFor} className="font-semibold">
        {label}
      </label>
      {children}
      <p id={hintId} className="text-sm text-soft">
        {hint}
      </p>
      <div id={errorId} data-tone="red" className="text-(--tone) text-sm">
        {problems.map(({ place, message }) => (
          <p key={`${place} ${message}`} className="[overflow-wrap:anywhere]">
            <strong>Error:</strong> <VisibleText>{`${shortPlace(place)} ${message}.`}</VisibleText>
          </p>
        ))}
      </div>
    </div>
  );
}

/** "Check 2, pattern 3" becomes "Pattern 3": beside the field, the check is known. */
function shortPlace(place: string): string {
  const short = place.replace(/^Check \d+, /, "");
  return short ? `${short[0]?.toUpperCase()}${short.slice(1)}` : place;
}

export function TextField({
  label,
  path,
  hint,
  code = false,
  onValue,
}: FieldProps & { code?: boolean; onValue?: (text: string) => void }) {
  const { editing, attributes, ...frame } = useField(path);
  return (
    <Frame label={label} htmlFor={attributes.id} hint={hint} {...frame}>
      <input
        {...attributes}
        className={`field ${code ? "font-mono text-sm" : ""}`}
        value={textAt(editing.document, path)}
        autoComplete="off"
        spellCheck={!code}
        onChange={(event) => (onValue ?? ((text: string) => editing.change(path, text)))(event.target.value)}
      />
    </Frame>
  );
}

export function TextArea({ label, path, hint, rows = 3 }: FieldProps & { rows?: number }) {
  const { editing, attributes, ...frame } = useField(path);
  return (
    <Frame label={label} htmlFor={attributes.id} hint={hint} {...frame}>
      <textarea
        {...attributes}
        className="field resize-y"
        rows={rows}
        value={textAt(editing.document, path)}
        onChange={(event) => editing.change(path, event.target.value)}
      />
    </Frame>
  );
}

/** A list of texts, one per line. */
export function LinesField({ label, path, hint, code = false }: FieldProps & { code?: boolean }) {
  const { editing, attributes, ...frame } = useField(path);
  const lines = textsAt(editing.document, path);
  return (
    <Frame label={label} htmlFor={attributes.id} hint={hint} {...frame}>
      <textarea
        {...attributes}
        className={`field resize-y ${code ? "font-mono text-sm" : ""}`}
        rows={Math.min(Math.max(lines.length + 1, 2), 10)}
        spellCheck={!code}
        value={lines.join("\n")}
        onChange={(event) => editing.change(path, event.target.value ? event.target.value.split("\n") : [])}
        onBlur={() => {
          editing.touch(path);
          const filled = lines.filter((line) => line.trim());
          if (filled.length < lines.length) editing.change(path, filled);
        }}
      />
    </Frame>
  );
}

export function ChoiceField({
  label,
  path,
  hint,
  options,
  onValue,
}: FieldProps & { options: readonly { value: string; label: string }[]; onValue?: (value: string) => void }) {
  const { editing, attributes, ...frame } = useField(path);
  const value = textAt(editing.document, path);
  return (
    <Frame label={label} htmlFor={attributes.id} hint={hint} {...frame}>
      <select
        {...attributes}
        className="field"
        value={value}
        onChange={(event) => (onValue ?? ((next: string) => editing.change(path, next)))(event.target.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
        {options.some((option) => option.value === value) ? null : <option value={value}>{value || "Choose …"}</option>}
      </select>
    </Frame>
  );
}

export function CheckboxField({
  label,
  path,
  isOn = (value) => value === true,
  on = true,
  off = false,
}: FieldProps & { isOn?: (value: unknown) => boolean; on?: unknown; off?: unknown }) {
  const { document, change } = useEditing();
  return (
    <label className="flex cursor-pointer items-baseline gap-2">
      <input
        type="checkbox"
        className="accent-link"
        checked={isOn(valueAt(document, path))}
        onChange={(event) => change(path, event.target.checked ? on : off)}
      />
      {label}
    </label>
  );
}
