/** What a list is filtered by. */
import { useEffect, useId, useRef, useState } from "react";

interface SearchProps {
  placeholder: string;
  value: string;
  change: (words: string) => void;
}

/** Words to look for; asked for when the typing pauses. */
export function Search({ placeholder, value, change }: SearchProps) {
  const id = useId();
  const [words, setWords] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setWords(value); // it was changed elsewhere, as by "Show everything"
  }, [value]);
  useEffect(() => {
    if (words === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = words;
      change(words);
    }, 300);
    return () => clearTimeout(timer);
  }, [words, change]);
  return (
    <div className="min-w-60 flex-1">
      <label htmlFor={id} className="block text-sm text-soft">
        Search
      </label>
      <input
        id={id}
        type="search"
        className="field"
        placeholder={placeholder}
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
    </div>
  );
}

interface ChoiceProps {
  label: string;
  all: string;
  value: string;
  change: (value: string) => void;
  of: readonly { value: string; text: string }[];
}

/** One of a few, or all. */
export function Choice({ label, all, value, change, of }: ChoiceProps) {
  const id = useId();
  return (
    <div className="w-full min-w-40 sm:w-auto sm:max-w-full">
      <label htmlFor={id} className="block text-sm text-soft">
        {label}
      </label>
      <select id={id} className="field" value={value} onChange={(event) => change(event.target.value)}>
        <option value="">{all}</option>
        {/* An address may name what is not, or no longer, there. */}
        {value && !of.some((one) => one.value === value) ? <option value={value}>{value}</option> : null}
        {of.map((one) => (
          <option key={one.value} value={one.value}>
            {one.text}
          </option>
        ))}
      </select>
    </div>
  );
}
