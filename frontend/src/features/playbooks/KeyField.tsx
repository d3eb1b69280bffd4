import { useId } from "react";
import { useDraft } from "./evaluate/draft";

/** The provider's key: in this page's memory, sent with the one request that needs it, and stored nowhere. */
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
        It stays in this page’s memory, goes with the one request that needs it, and is stored nowhere. A reload forgets
        it.
      </p>
    </div>
  );
}
