import { useState } from "react";
import { type Draw, DrawForm } from "@/components/DrawForm";
import { TextInput } from "@/components/TextInput";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";

interface StartFormProps {
  /** The name of the user who is logged in; null if nobody logged in with a name. */
  user: string | null;
  onStart: (draw: Draw) => void;
  isPending: boolean;
  /** Who has labelled as many runs as they wanted, or as there are. */
  done: { name: string; labelled: number; wanted: number } | null;
}

/** Who labels, and how many runs. */
export function StartForm({ user, onStart, isPending, done }: StartFormProps) {
  const [typed, setTyped] = useState(done?.name ?? "");
  return (
    <DrawForm
      name={user ?? typed}
      numberLabel="Runs that you label in all"
      submitLabel={done && done.labelled >= done.wanted ? "Label more runs" : "Start"}
      pendingLabel="Drawing runs …"
      isPending={isPending}
      onStart={onStart}
    >
      {done ? (
        <p role="status" className="font-semibold">
          You have labelled {pluralize(done.labelled, "run")}.{" "}
          {done.labelled < done.wanted
            ? "There are no others to label. Another reviewer can start."
            : "To label more, choose a higher number."}
        </p>
      ) : null}
      {user === null ? (
        <TextInput
          label="Your name"
          value={typed}
          onChange={setTyped}
          autoComplete="name"
          maxLength={100}
          hint="Stored with your answers as typed. It is not checked who you are."
        />
      ) : (
        <p className="text-sm text-soft">
          You label as <VisibleText>{user}</VisibleText>.
        </p>
      )}
    </DrawForm>
  );
}
