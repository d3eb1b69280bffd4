import { useId, useState } from "react";
import type { BlindSeries } from "@/api/types";
import { Button } from "@/components/Button";
import { SelectField } from "@/components/SelectField";
import { pluralize } from "@/lib/format";
import { escapeInvisible } from "@/lib/unicodeEscape";
import { NameField } from "../review/forms";
import { useReviewerName } from "../review/reviewer";

export interface BlindStart {
  reviewer: string;
  number: number;
}

interface BlindStartFormProps {
  series: readonly BlindSeries[];
  /** Which of them. */
  chosen: number;
  onChoose: (number: number) => void;
  onStart: (start: BlindStart) => void;
  isPending: boolean;
  /** How many checks the reviewer has decided who is done; null before. */
  decided: number | null;
}

/** Who decides, about which playbook and evaluator, and how many checks. */
export function BlindStartForm({ series, chosen, onChoose, onStart, isPending, decided }: BlindStartFormProps) {
  const id = useId();
  const [name] = useReviewerName();
  const [number, setNumber] = useState("40");
  const count = Number(number);
  const isValid = name.trim() !== "" && Number.isInteger(count) && count >= 1 && count <= 100_000;
  const selected = series[chosen];
  return (
    <form
      className="max-w-prose space-y-3 rounded border border-rule bg-card p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid && !isPending) onStart({ reviewer: name.trim(), number: count });
      }}
    >
      {decided === null ? null : <Done decided={decided} questions={selected?.questions ?? 0} />}
      <div>
        <SelectField
          label="Playbook and evaluator"
          value={String(chosen)}
          onChange={(value) => onChoose(Number(value))}
          options={series.map((item, index) => ({
            value: String(index),
            label: escapeInvisible(`${item.playbook_id} ${item.playbook_version}, by ${item.evaluator}`),
          }))}
        />
        {selected ? (
          <p className="mt-1 text-sm text-soft">
            {pluralize(selected.texts, "text")}, {pluralize(selected.questions, "check")} to decide; {selected.decided}{" "}
            decided by somebody.
          </p>
        ) : null}
      </div>
      <NameField />
      <div>
        <label htmlFor={id} className="block text-sm text-soft">
          Checks that you decide in all
        </label>
        <input
          id={id}
          className="field max-w-32"
          type="number"
          min={1}
          max={100_000}
          value={number}
          onChange={(event) => setNumber(event.target.value)}
        />
      </div>
      <Button type="submit" variant="primary" disabled={!isValid || isPending}>
        {isPending ? "Drawing checks …" : decided === null ? "Start" : "Decide more checks"}
      </Button>
    </form>
  );
}

function Done({ decided, questions }: { decided: number; questions: number }) {
  return (
    <p role="status" className="font-semibold">
      You have decided {pluralize(decided, "check")}.{" "}
      {decided < questions
        ? "To decide more, choose a higher number. Checks that you decided knowing the result are not asked."
        : "That is all of them."}
    </p>
  );
}
