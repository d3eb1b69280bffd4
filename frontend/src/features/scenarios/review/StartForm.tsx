import { useId, useState } from "react";
import type { LabelRequest } from "@/api/types";
import { Button } from "@/components/Button";
import { pluralize } from "@/lib/format";

interface StartFormProps {
  onStart: (request: Required<LabelRequest>) => void;
  isPending: boolean;
  /** Who has labelled as many runs as they wanted. */
  done: { name: string; labelled: number } | null;
}

/** Who labels, and how many runs. */
export function StartForm({ onStart, isPending, done }: StartFormProps) {
  const ids = { name: useId(), number: useId(), hint: useId() };
  const [name, setName] = useState(done?.name ?? "");
  const [number, setNumber] = useState("40");
  const count = Number(number);
  const isValid = name.trim() !== "" && Number.isInteger(count) && count >= 1 && count <= 100_000;
  return (
    <form
      className="max-w-prose space-y-3 rounded border border-rule bg-card p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid && !isPending) onStart({ reviewer: name.trim(), number: count });
      }}
    >
      {done ? (
        <p role="status" className="font-semibold">
          You have labelled {pluralize(done.labelled, "run")}. To label more, choose a higher number.
        </p>
      ) : null}
      <div>
        <label htmlFor={ids.name} className="block text-sm text-soft">
          Your name
        </label>
        <input
          id={ids.name}
          className="field"
          value={name}
          maxLength={100}
          autoComplete="name"
          aria-describedby={ids.hint}
          onChange={(event) => setName(event.target.value)}
        />
        <p id={ids.hint} className="mt-1 text-sm text-soft">
          Stored with your answers as typed. It is not checked who you are.
        </p>
      </div>
      <div>
        <label htmlFor={ids.number} className="block text-sm text-soft">
          Runs that you label in all
        </label>
        <input
          id={ids.number}
          className="field max-w-32"
          type="number"
          min={1}
          max={100_000}
          value={number}
          onChange={(event) => setNumber(event.target.value)}
        />
      </div>
      <Button type="submit" variant="primary" disabled={!isValid || isPending}>
        {isPending ? "Drawing runs …" : done ? "Label more runs" : "Start"}
      </Button>
    </form>
  );
}
