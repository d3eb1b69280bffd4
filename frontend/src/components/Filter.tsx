/** Controls that filter a list. */
import { useEffect, useId, useRef, useState } from "react";
import { SelectField } from "./SelectField";

interface FilterSearchProps {
  placeholder: string;
  value: string;
  onChange: (query: string) => void;
}

/** A search field that reports its text when typing pauses. */
export function FilterSearch({ placeholder, value, onChange }: FilterSearchProps) {
  const id = useId();
  const [query, setQuery] = useState(value);
  const submitted = useRef(value);
  useEffect(() => {
    if (value === submitted.current) return;
    submitted.current = value;
    setQuery(value); // changed elsewhere, for example by "Clear filters"
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

/** A select with an option for all values. */
export function FilterSelect({ allLabel, options, ...rest }: FilterSelectProps) {
  return (
    <div className="w-full min-w-40 sm:w-auto sm:max-w-full">
      <SelectField {...rest} options={[{ value: "", label: allLabel }, ...options]} />
    </div>
  );
}
