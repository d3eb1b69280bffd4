/** The small forms with which a reviewer decides, comments, assigns and signs. */
import { useEffect, useId, useRef, useState } from "react";
import type { Result } from "@/api/types";
import { Button } from "@/components/Button";
import { Form } from "@/components/Form";
import { SelectField } from "@/components/SelectField";
import { TextInput } from "@/components/TextInput";
import { VisibleText } from "@/components/VisibleText";
import { useUserName } from "@/features/account/userName";
import { useReviewerName } from "./reviewer";

export const RESULT_LABELS: Record<Result, string> = {
  pass: "PASS",
  fail: "FAIL",
  indeterminate: "INDETERMINATE",
};

/** The second half of the title of a list of passages or findings. */
export function reviewOneByOne(number: number): string {
  return number === 1 ? "review it" : "review them one by one";
}

export function NameField({ label = "Your name" }: { label?: string }) {
  const [name, setName] = useReviewerName();
  if (useUserName() !== null) {
    return (
      <p className="text-sm text-soft">
        You review as <VisibleText>{name}</VisibleText>.
      </p>
    );
  }
  return (
    <div className="w-full sm:max-w-xs">
      <TextInput
        label={label}
        value={name}
        onChange={setName}
        autoComplete="name"
        maxLength={200}
        hint="Recorded as typed, not authenticated. This browser remembers it."
      />
    </div>
  );
}

interface StepFormProps {
  /** What the form is for, for screen readers. */
  label: string;
  /** The label of the text; without it there is no text. */
  text?: string;
  isTextRequired?: boolean;
  initialText?: string;
  /** Results to choose from; the first is selected. */
  results?: readonly Result[];
  /** Ask for the name of a person, with suggestions. */
  person?: { label: string; suggestions: readonly string[]; initial: string };
  submit: string;
  isPending: boolean;
  onSubmit: (values: StepValues) => void;
  onCancel: () => void;
}

export interface StepValues {
  text: string;
  result: Result | null;
  person: string;
}

/** A form for one step. It takes the focus when it opens, and Escape closes it. */
export function StepForm(props: StepFormProps) {
  const { label, text, isTextRequired = false, initialText = "", results = [], person, isPending } = props;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [name] = useReviewerName();
  const [hadName] = useState(Boolean(name.trim()));
  const [values, setValues] = useState<StepValues>({
    text: initialText,
    result: results[0] ?? null,
    person: person?.initial ?? "",
  });
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("input, textarea, select, button")?.focus();
  }, []);
  const isComplete = Boolean(name.trim()) && (!isTextRequired || Boolean(values.text.trim()));
  return (
    <Form
      ref={form}
      aria-label={label}
      className="mt-3 space-y-3 rounded border border-rule bg-well px-4 py-3"
      isPending={isPending}
      onSubmit={() => {
        if (isComplete) props.onSubmit(values);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        props.onCancel();
      }}
    >
      {hadName ? null : <NameField />}
      {results.length ? (
        <div className="w-full sm:max-w-xs">
          <SelectField
            label="New result"
            value={values.result ?? ""}
            onChange={(result) => setValues({ ...values, result: result as Result })}
            options={results.map((result) => ({ value: result, label: RESULT_LABELS[result] }))}
          />
        </div>
      ) : null}
      {person ? (
        <div className="w-full sm:max-w-xs">
          <label htmlFor={`${id}-person`} className="block text-sm text-soft">
            {person.label}
          </label>
          <input
            id={`${id}-person`}
            className="field"
            maxLength={200}
            list={`${id}-people`}
            value={values.person}
            onChange={(event) => setValues({ ...values, person: event.target.value })}
          />
          <datalist id={`${id}-people`}>
            {person.suggestions.map((suggestion) => (
              <option key={suggestion} value={suggestion} />
            ))}
          </datalist>
        </div>
      ) : null}
      {text ? (
        <div>
          <label htmlFor={`${id}-text`} className="block text-sm text-soft">
            {text}
          </label>
          <textarea
            id={`${id}-text`}
            className="field min-h-20"
            maxLength={20000}
            value={values.text}
            required={isTextRequired}
            onChange={(event) => setValues({ ...values, text: event.target.value })}
          />
        </div>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" disabled={!isComplete || isPending}>
          {props.submit}
        </Button>
        <Button onClick={props.onCancel}>Cancel</Button>
      </div>
    </Form>
  );
}
