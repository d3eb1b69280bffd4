import { useId } from "react";

interface TextInputProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "password";
  autoComplete: string;
  maxLength: number;
  required?: boolean;
  hint?: string;
  /** With a label as that of the main fields of a form. */
  prominent?: boolean;
}

/** A line of text with its label. */
export function TextInput({ label, value, onChange, hint, prominent = false, ...input }: TextInputProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className={`block ${prominent ? "font-semibold" : "text-sm text-soft"}`}>
        {label}
      </label>
      <input
        id={id}
        className="field"
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.value)}
        {...input}
      />
      {hint ? (
        <p id={`${id}-hint`} className="mt-1 text-sm text-soft">
          {hint}
        </p>
      ) : null}
    </div>
  );
}
