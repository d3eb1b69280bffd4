import { useId } from "react";
import { useDraft } from "./evaluate/draft";

/**
 * The provider's API key, kept in memory and sent only with the request that needs it. Without a provider none is needed;
 * a server that lends its own key needs none either.
 */
export function KeyField({ provider, lent = false }: { provider: string | null; lent?: boolean }) {
  const { apiKey, setApiKey } = useDraft();
  return <JudgeKeyField provider={provider} lent={lent} apiKey={apiKey} onKey={setApiKey} />;
}

interface JudgeKeyFieldProps {
  provider: string | null;
  lent: boolean;
  apiKey: string;
  onKey: (key: string) => void;
}

/** The same, for one of several judges. */
export function JudgeKeyField({ provider, lent, apiKey, onKey }: JudgeKeyFieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="block text-sm text-soft">
        {provider ? `API key for ${provider}` : "API key"}
      </label>
      <input
        id={id}
        type="password"
        className="field mt-1 font-mono text-sm"
        value={provider ? apiKey : ""}
        disabled={!provider}
        placeholder={provider ? (lent ? "Optional: this server has a key" : "") : "Not needed: the rules call no model"}
        autoComplete="off"
        data-1p-ignore="true"
        data-lpignore="true"
        spellCheck={false}
        aria-describedby={`${id}-about`}
        onChange={(event) => onKey(event.target.value)}
      />
      <p id={`${id}-about`} className="mt-1 text-sm text-soft">
        {provider
          ? "Kept in this page’s memory and sent only with the request that needs it. It is not stored; reloading the page clears it."
          : "Choose a model above to enter a key."}
      </p>
    </div>
  );
}
