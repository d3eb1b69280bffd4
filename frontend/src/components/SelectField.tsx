import { useId } from "react";

interface SelectFieldProps {
  label: string;
  /** Show the label to screen readers only. */
  hideLabel?: boolean;
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; label: string }[];
}

/** A select with its label. A value that is not among the options, as from an outdated URL, gets an option of its own. */
export function SelectField({ label, hideLabel = false, value, onChange, options }: SelectFieldProps) {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className={hideLabel ? "sr-only" : "block text-sm text-soft"}>
        {label}
      </label>
      <select id={id} className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
        {value && !options.some((option) => option.value === value) ? <option value={value}>{value}</option> : null}
      </select>
    </>
  );
}
