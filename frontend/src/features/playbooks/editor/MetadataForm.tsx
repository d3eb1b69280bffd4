import { idFromTitle, textAt, textsAt, withValue } from "./document";
import { useEditing } from "./editing";
import { ChoiceField, LinesField, TextArea, TextField } from "./fields";

const ID = ["metadata", "id"] as const;
const TITLE = ["metadata", "title"] as const;

export function MetadataForm({ isNew }: { isNew: boolean }) {
  const { document, change, replace } = useEditing();
  const setTitle = (title: string) => {
    const follows = isNew && textAt(document, ID) === idFromTitle(textAt(document, TITLE));
    if (!follows) return change(TITLE, title);
    replace(withValue(withValue(document, TITLE, title), ID, idFromTitle(title)));
  };
  return (
    <div className="space-y-4">
      <TextField label="Title" path={TITLE} hint="What people call it, such as “NDA review”." onValue={setTitle} />
      <div className="grid gap-4 md:grid-cols-2">
        {isNew ? (
          <TextField
            label="Id"
            path={ID}
            code
            hint="The same in all versions. Commands use it: byop run --playbook ID."
          />
        ) : (
          <div>
            <p className="font-semibold">Id</p>
            <p className="py-1.5">
              <code>{textAt(document, ID)}</code>
            </p>
            <p className="text-sm text-soft">The same in all versions.</p>
          </div>
        )}
        <TextField label="Version" path={["metadata", "version"]} hint="Every saved change has a version of its own." />
        <TextField label="Author" path={["metadata", "author"]} hint="A person or a team." />
        <TextField
          label="Jurisdiction"
          path={["metadata", "jurisdiction"]}
          hint="Whose law it has in mind, or neutral."
        />
      </div>
      <TextArea
        label="Intended use"
        path={["metadata", "intended_use"]}
        rows={2}
        hint="Which texts it is for, and what it should show."
      />
    </div>
  );
}

const INPUTS = [
  { name: "source_document", label: "The source document" },
  { name: "prompt", label: "The prompt" },
  { name: "system_instructions", label: "The system instructions" },
];

const AGGREGATIONS = [
  { value: "majority_vote", label: "The majority of the runs decides" },
  { value: "consensus_required", label: "All runs must agree, otherwise the check is indeterminate" },
  { value: "report_all_runs", label: "The majority decides, and every run is shown" },
];

export function ScopeForm() {
  const { document, change } = useEditing();
  const required = textsAt(document, ["input_contract", "required_inputs"]);
  const runs = ["variance_handling", "min_runs"] as const;
  return (
    <div className="space-y-4">
      <fieldset className="space-y-1">
        <legend className="font-semibold">What must be given besides the AI’s text</legend>
        {INPUTS.map(({ name, label }) => (
          <label key={name} className="flex cursor-pointer items-baseline gap-2">
            <input
              type="checkbox"
              className="accent-link"
              checked={required.includes(name)}
              onChange={({ target }) =>
                change(
                  ["input_contract", "required_inputs"],
                  target.checked ? [...required, name] : required.filter((other) => other !== name),
                )
              }
            />
            {label}
          </label>
        ))}
      </fieldset>
      <div className="grid gap-4 md:grid-cols-2">
        <NumberField label="Runs per check" path={runs} />
        <ChoiceField label="When runs differ" path={["variance_handling", "aggregation"]} options={AGGREGATIONS} />
      </div>
      <LinesField
        label="Assumptions"
        path={["assumptions"]}
        hint="What the playbook takes for granted. One per line."
      />
      <LinesField
        label="Risks"
        path={["risk_posture", "primary_risks"]}
        hint="What the checks look for. One per line."
      />
    </div>
  );
}

function NumberField({ label, path }: { label: string; path: readonly (string | number)[] }) {
  const { change } = useEditing();
  return (
    <TextField
      label={label}
      path={path}
      hint="In a full evaluation; at least 3."
      onValue={(text) => change(path, /^\d+$/.test(text) ? Number(text) : text)}
    />
  );
}
