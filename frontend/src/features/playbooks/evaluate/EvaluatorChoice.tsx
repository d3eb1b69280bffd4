import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { queries } from "@/api/queries";
import type { Evaluators } from "@/api/types";
import { SelectField } from "@/components/SelectField";
import { ErrorNotice } from "@/components/states";
import { JudgeKeyField } from "../KeyField";
import { type Judge, useDraft } from "./draft";

/** The evaluator of the draft. */
export function EvaluatorChoice() {
  const { draft, change, apiKey, setApiKey } = useDraft();
  return <EvaluatorFields legend="Evaluator" judge={draft} onJudge={change} apiKey={apiKey} onKey={setApiKey} />;
}

interface JudgeProps {
  judge: Judge;
  onJudge: (part: Partial<Judge>) => void;
  apiKey: string;
  onKey: (key: string) => void;
}

export function EvaluatorFields({ legend, ...props }: JudgeProps & { legend: string }) {
  const { data, error, refetch } = useQuery(queries.evaluators());
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  return (
    <fieldset className="space-y-2">
      <legend className="font-semibold">{legend}</legend>
      {data ? <EvaluatorSelect evaluators={data} {...props} /> : <p className="text-soft">Loading the evaluators …</p>}
    </fieldset>
  );
}

const RULES_ABOUT =
  "The rules find certain wording in English texts. They do not understand a text and know no law; a model judges meaning.";

function EvaluatorSelect({ evaluators, judge, onJudge, apiKey, onKey }: JudgeProps & { evaluators: Evaluators }) {
  const id = useId();
  const [providerName, modelName] = splitEvaluator(judge.evaluator);
  const provider = evaluators.providers.find(({ name }) => name === providerName);
  const model = provider?.models.find((listed) => listed.model === modelName);
  return (
    <>
      <SelectField
        label="Provider"
        hideLabel
        value={providerName}
        onChange={(name) => {
          const next = evaluators.providers.find((listed) => listed.name === name);
          onJudge({ evaluator: next?.default ?? evaluators.rules.name });
        }}
        options={[
          { value: "rules", label: "Built-in rules (no key needed)" },
          ...evaluators.providers.map(({ name, title }) => ({ value: name, label: `${title} model` })),
        ]}
      />
      {provider ? (
        <>
          <label htmlFor={`${id}-model`} className="block text-sm text-soft">
            Model
          </label>
          <input
            id={`${id}-model`}
            className="field font-mono text-sm"
            list={`${id}-models`}
            value={modelName}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => onJudge({ evaluator: `${provider.name}/${event.target.value.trim()}` })}
          />
          <datalist id={`${id}-models`}>
            {provider.models.map((listed) => (
              <option key={listed.name} value={listed.model} />
            ))}
          </datalist>
          {model && !model.takes_temperature ? (
            <p className="text-sm text-soft">
              This model does not accept temperature 0, so its votes may vary more. The report will say so.
            </p>
          ) : null}
          {model?.ends ? <p className="text-sm text-soft">The provider retires this model on {model.ends}.</p> : null}
          {evaluators.base_urls.length ? (
            <SelectField
              label="Base URL"
              value={judge.base_url}
              onChange={(base_url) => onJudge({ base_url })}
              options={[
                { value: "", label: "Provider default" },
                ...evaluators.base_urls.map((url) => ({ value: url, label: url })),
              ]}
            />
          ) : null}
        </>
      ) : (
        <p className="text-sm text-soft">{RULES_ABOUT}</p>
      )}
      <JudgeKeyField
        provider={provider?.title ?? null}
        lent={provider?.models.every(({ needs_key }) => !needs_key) ?? false}
        apiKey={apiKey}
        onKey={onKey}
      />
      {provider ? <TimeLimitField value={judge.timeout} onChange={(timeout) => onJudge({ timeout })} /> : null}
    </>
  );
}

/** How long one call may take. A model on the user's own machine may need more than the default. */
function TimeLimitField({ value, onChange }: { value: string; onChange: (seconds: string) => void }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="block text-sm text-soft">
        Time limit of a call, in seconds
      </label>
      <input
        id={id}
        type="number"
        min={1}
        max={86_400}
        className="field mt-1 text-sm"
        placeholder="300"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

function splitEvaluator(evaluator: string): [string, string] {
  const slash = evaluator.indexOf("/");
  return slash === -1 ? [evaluator, ""] : [evaluator.slice(0, slash), evaluator.slice(slash + 1)];
}
