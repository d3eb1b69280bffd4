import { useId } from "react";
import { useDraft } from "./evaluate/draft";

/** The provider's API key, kept in memory and sent only with the request that needs it. */
export function KeyField({ provider }: { provider: string }) {
  const id = useId();
  const { apiKey, setApiKey } = useDraft();
  return (
    <div>
      <label htmlFor={id} className="block text-sm text-soft">
        API key for {provider}
      </label>
      <input
        id={id}
        type="password"
        className="field mt-1 font-mono text-sm"
        value={apiKey}
        autoComplete="off"
        data-1p-ignore="true"
        data-lpignore="true"
        spellCheck={false}
        aria-describedby={`${id}-about`}
        onChange={(event) => setApiKey(event.target.value)}
      />
      <p id={`${id}-about`} className="mt-1 text-sm text-soft">
        Kept in this page’s memory and sent only with the request that needs it. It is not stored; reloading the page
        clears it.
      </p>
    </div>
  );
}
