/** What a list is filtered by. */
import { useEffect, useId, useRef, useState } from "react";

interface FilterSearchProps {
  placeholder: string;
  value: string;
  onChange: (query: string) => void;
}

/** Words to look for; asked for when the typing pauses. */
export function FilterSearch({ placeholder, value, onChange }: FilterSearchProps) {
  const id = useId();
  const [query, setQuery] = useState(value);
  const submitted = useRef(value);
  useEffect(() => {
    if (value === submitted.current) return;
    submitted.current = value;
    setQuery(value); // it was changed elsewhere, as by "Show everything"
  }, [value]);
  useEffect(() => {
    if (query === submitted.current) return;
    const timer = setTimeout(() => {
      submitted.current = query;
      onChange(query);
    }, 300);
    return () => clearTimeout(timer);
  }, [query, onChange]);
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
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
    </div>
  );
}

interface FilterSelectProps {
  label: string;
  allLabel: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; label: string }[];
}

/** One of a few, or all. */
export function FilterSelect({ label, allLabel, value, onChange, options }: FilterSelectProps) {
  const id = useId();
  return (
    <div className="w-full min-w-40 sm:w-auto sm:max-w-full">
      <label htmlFor={id} className="block text-sm text-soft">
        {label}
      </label>
      <select id={id} className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{allLabel}</option>
        {/* An address may name what is not, or no longer, there. */}
        {value && !options.some((option) => option.value === value) ? <option value={value}>{value}</option> : null}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
