import { useState } from "react";
import { Label } from "@/components/Badge";
import { Button } from "@/components/Button";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle } from "@/lib/format";
import { checksOf, newCheck, textAt, valueAt, withValue } from "./document";
import { ExampleFields } from "./ExampleFields";
import { useEditing } from "./editing";
import { CheckboxField, ChoiceField, LinesField, TextArea, TextField } from "./fields";

const SEVERITIES = [
  { value: "high", label: "High: a failure makes the report an ALERT" },
  { value: "medium", label: "Medium: two failures make it a REVIEW" },
];

const TYPES = [
  { value: "semantic", label: "The evaluator judges by your instructions" },
  { value: "hybrid", label: "The evaluator judges, and sees where your patterns occur" },
  { value: "pattern", label: "Your patterns alone decide, without the evaluator" },
];

const ON_MATCH = [
  { value: "fail", label: "the check fails" },
  { value: "pass", label: "the check passes" },
];

/** Checks that the program computes from the results of the others. */
const DERIVED = ["run_variance", "drift_over_time_support"];

export function ChecksForm() {
  const { document, change } = useEditing();
  const checks = checksOf(document);
  const move = (index: number, by: number) => {
    const order = [...checks];
    const [moved] = order.splice(index, 1);
    if (moved) order.splice(index + by, 0, moved);
    change(["checks"], order);
  };
  return (
    <>
      <ol className="space-y-4">
        {checks.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a check has no identity apart from its place while its id is typed
          <li key={index}>
            <CheckForm
              index={index}
              count={checks.length}
              onMove={(by) => move(index, by)}
              onRemove={() => change(["checks", index], undefined)}
            />
          </li>
        ))}
      </ol>
      <Button className="mt-4" onClick={() => change(["checks"], [...checks, newCheck()])}>
        Add a check
      </Button>
    </>
  );
}

interface CheckFormProps {
  index: number;
  count: number;
  onMove: (by: number) => void;
  onRemove: () => void;
}

function CheckForm({ index, count, onMove, onRemove }: CheckFormProps) {
  const { document } = useEditing();
  const path = ["checks", index] as const;
  const id = textAt(document, [...path, "id"]);
  const severity = textAt(document, [...path, "severity"]);
  const [open, setOpen] = useState(id === "");
  const name = `check ${index + 1}`;
  return (
    <article aria-label={`Check ${index + 1}`} className="rounded border border-rule bg-card">
      <div className="flex flex-wrap items-center gap-2 px-4 py-2">
        <h3 className="min-w-0 grow font-semibold [overflow-wrap:anywhere]">
          <span className="text-soft">{index + 1}.</span> <VisibleText>{id ? checkTitle(id) : "New check"}</VisibleText>{" "}
          {severity ? <Label tone={severity === "high" ? "amber" : "plain"}>{severity}</Label> : null}
        </h3>
        <Button className="text-sm" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Close" : "Edit"}
          <span className="sr-only"> {name}</span>
        </Button>
        <Button className="text-sm" disabled={index === 0} onClick={() => onMove(-1)}>
          Up<span className="sr-only">: {name}</span>
        </Button>
        <Button className="text-sm" disabled={index === count - 1} onClick={() => onMove(1)}>
          Down<span className="sr-only">: {name}</span>
        </Button>
        <Button className="text-sm" disabled={count === 1} onClick={onRemove}>
          Remove<span className="sr-only"> {name}</span>
        </Button>
      </div>
      {open ? (
        <div className="space-y-4 border-rule border-t px-4 py-4">
          <CheckFields index={index} />
        </div>
      ) : null}
    </article>
  );
}

function CheckFields({ index }: { index: number }) {
  const { document, change } = useEditing();
  const path = ["checks", index] as const;
  const method = [...path, "detection_method"] as const;
  const type = textAt(document, [...method, "type"]);
  const id = textAt(document, [...path, "id"]);
  if (DERIVED.includes(id)) {
    return (
      <p className="text-soft">
        The program computes this check from the results of the others. There is nothing to edit.
      </p>
    );
  }
  const usesPatterns = type === "pattern" || type === "hybrid";
  const patternName = valueAt(document, [...method, "patterns"]) === undefined ? "pattern_hints" : "patterns";
  return (
    <>
      <div className="grid gap-4 md:grid-cols-2">
        <TextField
          label="Name"
          path={[...path, "id"]}
          code
          hint={
            id ? `Reports call it “${checkTitle(id)}”.` : "In small letters with underscores, such as names_a_clause."
          }
        />
        <ChoiceField label="Severity" path={[...path, "severity"]} options={SEVERITIES} />
      </div>
      <TextArea
        label="Question"
        path={[...path, "question"]}
        rows={2}
        hint="What is asked about the AI’s text, answered by yes or no."
      />
      <ChoiceField
        label="How it is decided"
        path={[...method, "type"]}
        options={
          type === "deterministic" ? [...TYPES, { value: type, label: "The evaluator judges (deterministic)" }] : TYPES
        }
        onValue={(next) => change(method, withType(valueAt(document, method), next))}
      />
      {type === "pattern" ? null : (
        <TextArea
          label="Instructions"
          path={[...method, "instructions"]}
          rows={4}
          hint="What the evaluator looks for. Say what makes it PASS, FAIL and INDETERMINATE."
        />
      )}
      {usesPatterns ? (
        <LinesField
          label="Patterns"
          path={[...method, patternName]}
          code
          hint="One per line. Plain words match as whole words, in capitals or not; regular expressions are possible."
        />
      ) : null}
      {type === "pattern" ? (
        <ChoiceField label="If a pattern occurs" path={[...method, "on_match"]} options={ON_MATCH} />
      ) : null}
      <fieldset className="space-y-1">
        <legend className="font-semibold">Evidence</legend>
        <CheckboxField
          label="A failure must quote the text"
          path={[...path, "evidence_requirements", "require_citations"]}
        />
        <CheckboxField
          label="A pass must quote the text, too"
          path={[...path, "evidence_on_pass"]}
          isOn={(value) => value === "required"}
          on="required"
          off={undefined}
        />
      </fieldset>
      <ExampleFields index={index} />
    </>
  );
}

/** Only the fields that the type uses are kept: others would have an effect that the form does not show. */
function withType(method: unknown, type: string): unknown {
  let next = withValue(method, ["type"], type);
  if (type === "pattern") {
    next = withValue(next, ["instructions"], undefined);
    if (valueAt(next, ["on_match"]) === undefined) next = withValue(next, ["on_match"], "fail");
    const hints = valueAt(next, ["pattern_hints"]);
    if (hints !== undefined && valueAt(next, ["patterns"]) === undefined) {
      next = withValue(withValue(next, ["pattern_hints"], undefined), ["patterns"], hints);
    }
    if (valueAt(next, ["patterns"]) === undefined) next = withValue(next, ["patterns"], []);
    return next;
  }
  next = withValue(next, ["on_match"], undefined);
  if (valueAt(next, ["instructions"]) === undefined) next = withValue(next, ["instructions"], "");
  if (type === "semantic") {
    next = withValue(withValue(next, ["pattern_hints"], undefined), ["patterns"], undefined);
  }
  return next;
}
