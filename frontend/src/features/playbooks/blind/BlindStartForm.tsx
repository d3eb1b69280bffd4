import type { BlindSeries } from "@/api/types";
import { type Draw, DrawForm } from "@/components/DrawForm";
import { SelectField } from "@/components/SelectField";
import { pluralize } from "@/lib/format";
import { escapeInvisible } from "@/lib/unicodeEscape";
import { NameField } from "../review/forms";
import { useReviewerName } from "../review/reviewer";

interface BlindStartFormProps {
  series: readonly BlindSeries[];
  /** Which of them. */
  chosen: number;
  onChoose: (number: number) => void;
  onStart: (draw: Draw) => void;
  isPending: boolean;
  /** How many checks the reviewer who is done has decided, and how many they wanted to decide; null before. */
  done: { decided: number; wanted: number } | null;
}

/** Who decides, about which playbook and evaluator, and how many checks. */
export function BlindStartForm({ series, chosen, onChoose, onStart, isPending, done }: BlindStartFormProps) {
  const [name] = useReviewerName();
  const selected = series[chosen];
  return (
    <DrawForm
      name={name}
      numberLabel="Checks that you decide in all"
      submitLabel={done && done.decided >= done.wanted ? "Decide more checks" : "Start"}
      pendingLabel="Drawing checks …"
      isPending={isPending}
      onStart={onStart}
    >
      {done ? <Done {...done} questions={selected?.questions ?? 0} /> : null}
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
    </DrawForm>
  );
}

function Done({ decided, wanted, questions }: { decided: number; wanted: number; questions: number }) {
  return (
    <p role="status" className="font-semibold">
      You have decided {pluralize(decided, "check")}.{" "}
      {decided >= questions
        ? "That is all of them."
        : decided < wanted
          ? "The others you decided knowing the result, so they are not asked."
          : "To decide more, choose a higher number. Checks that you decided knowing the result are not asked."}
    </p>
  );
}
