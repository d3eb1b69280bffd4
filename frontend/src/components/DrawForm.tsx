import { useId, useState } from "react";
import { Button } from "./Button";
import { Form } from "./Form";

export interface Draw {
  reviewer: string;
  /** How many questions the reviewer answers in all. */
  number: number;
}

interface DrawFormProps {
  /** The reviewer's name, as typed so far. */
  name: string;
  numberLabel: string;
  submitLabel: string;
  pendingLabel: string;
  isPending: boolean;
  onStart: (draw: Draw) => void;
  /** The fields above the number. */
  children: React.ReactNode;
}

/** Starts a series of questions that are drawn at random for a reviewer. */
export function DrawForm({
  name,
  numberLabel,
  submitLabel,
  pendingLabel,
  isPending,
  onStart,
  children,
}: DrawFormProps) {
  const id = useId();
  const [number, setNumber] = useState("40");
  const count = Number(number);
  const isValid = name.trim() !== "" && Number.isInteger(count) && count >= 1 && count <= 100_000;
  return (
    <Form
      className="max-w-prose space-y-3 rounded border border-rule bg-card p-4"
      isPending={isPending}
      onSubmit={() => {
        if (isValid) onStart({ reviewer: name.trim(), number: count });
      }}
    >
      {children}
      <div>
        <label htmlFor={id} className="block text-sm text-soft">
          {numberLabel}
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
        {isPending ? pendingLabel : submitLabel}
      </Button>
    </Form>
  );
}
