import { Button } from "@/components/Button";
import { valueAt } from "./document";
import { useEditing } from "./editing";
import { ChoiceField, TextArea } from "./fields";

const RESULTS = [
  { value: "pass", label: "Pass" },
  { value: "fail", label: "Fail" },
  { value: "indeterminate", label: "Indeterminate" },
];

/** Passages with the result that the check should have. */
export function ExampleFields({ index }: { index: number }) {
  const { document, change } = useEditing();
  const path = ["checks", index, "labelled_examples"] as const;
  const value = valueAt(document, path);
  const examples = Array.isArray(value) ? value : [];
  const add = () => change(path, [...examples, { text: "", expected: "fail" }]);
  return (
    <fieldset className="space-y-3">
      <legend className="font-semibold">Examples</legend>
      <p className="text-sm text-soft">
        Passages with the result that this check should have. “Try it” shows how an evaluator does on them. An
        evaluation does not read them, but they belong to the playbook: changing one changes its logic hash.
      </p>
      {examples.map((_, number) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an example has no identity apart from its place
        <div key={number} className="grid gap-3 border-rule border-l-[3px] pl-4 md:grid-cols-[minmax(0,1fr)_14rem]">
          <TextArea label={`Example ${number + 1}`} path={[...path, number, "text"]} rows={3} />
          <div className="space-y-2">
            <ChoiceField label="Expected result" path={[...path, number, "expected"]} options={RESULTS} />
            <Button
              className="text-sm"
              onClick={() =>
                change(path, examples.length > 1 ? examples.filter((_, other) => other !== number) : undefined)
              }
            >
              Remove example {number + 1}
            </Button>
          </div>
        </div>
      ))}
      <Button className="text-sm" onClick={add}>
        Add an example
      </Button>
    </fieldset>
  );
}
