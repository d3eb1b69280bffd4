import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { queries } from "@/api/queries";
import type { Evaluators } from "@/api/types";
import { ErrorNotice } from "@/components/states";
import { KeyField } from "../KeyField";
import { useDraft } from "./draft";

export function EvaluatorChoice() {
  const { data, error, refetch } = useQuery(queries.evaluators());
  if (error) return <ErrorNotice error={error} onRetry={refetch} />;
  return (
    <fieldset className="space-y-2">
      <legend className="font-semibold">Evaluator</legend>
      {data ? <EvaluatorSelect evaluators={data} /> : <p className="text-soft">Loading the evaluators …</p>}
    </fieldset>
  );
}

function EvaluatorSelect({ evaluators }: { evaluators: Evaluators }) {
  const { draft, change } = useDraft();
  const id = useId();
  const [provider, model] = splitEvaluator(draft.evaluator);
  const chosen = evaluators.providers.find(({ name }) => name === provider);
  const known = chosen?.models.find((listed) => listed.model === model);
  return (
    <>
      <label htmlFor={id} className="sr-only">
        Who judges
      </label>
      <select
        id={id}
        className="field"
        value={provider}
        onChange={(event) => {
          const next = evaluators.providers.find(({ name }) => name === event.target.value);
          change({ evaluator: next?.default ?? evaluators.rules.name });
        }}
      >
        <option value="rules">Built-in rules (no key needed)</option>
        {evaluators.providers.map(({ name, title }) => (
          <option key={name} value={name}>
            A model of {title}
          </option>
        ))}
      </select>
      {chosen ? (
        <>
          <label htmlFor={`${id}-model`} className="block text-sm text-soft">
            Model
          </label>
          <input
            id={`${id}-model`}
            className="field font-mono text-sm"
            list={`${id}-models`}
            value={model}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => change({ evaluator: `${chosen.name}/${event.target.value.trim()}` })}
          />
          <datalist id={`${id}-models`}>
            {chosen.models.map((each) => (
              <option key={each.name} value={each.model} />
            ))}
          </datalist>
          {known && !known.takes_temperature ? (
            <p className="text-sm text-soft">
              This model cannot be asked at temperature 0, so its votes may vary more. The report will say so.
            </p>
          ) : null}
          {known?.ends ? <p className="text-sm text-soft">Its provider stops serving it on {known.ends}.</p> : null}
          {evaluators.base_urls.length ? <BaseUrlSelect urls={evaluators.base_urls} /> : null}
          <KeyField provider={chosen.title} />
        </>
      ) : null}
    </>
  );
}

function BaseUrlSelect({ urls }: { urls: readonly string[] }) {
  const { draft, change } = useDraft();
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="block text-sm text-soft">
        Address
      </label>
      <select
        id={id}
        className="field text-sm"
        value={draft.base_url}
        onChange={(event) => change({ base_url: event.target.value })}
      >
        <option value="">The provider’s own</option>
        {urls.map((url) => (
          <option key={url}>{url}</option>
        ))}
      </select>
    </>
  );
}

function splitEvaluator(evaluator: string): [string, string] {
  const slash = evaluator.indexOf("/");
  return slash === -1 ? [evaluator, ""] : [evaluator.slice(0, slash), evaluator.slice(slash + 1)];
}
