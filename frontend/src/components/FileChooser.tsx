import { useRef } from "react";
import { Button, type ButtonProps } from "./Button";

interface FileChooserProps {
  /** The accessible name of the file input. */
  label: string;
  /** File name suffixes and media types, in the format of the `accept` attribute. */
  accept: string;
  onFile: (file: File) => void;
  disabled?: boolean;
  className?: string;
  variant?: ButtonProps["variant"];
  /** The text of the button. */
  children: React.ReactNode;
}

/** A button that asks for one file. The same file can be chosen twice in a row, because it may have changed. */
export function FileChooser({
  label,
  accept,
  onFile,
  disabled = false,
  className = "",
  variant,
  children,
}: FileChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button
        {...(variant ? { variant } : {})}
        className={className}
        onClick={() => input.current?.click()}
        disabled={disabled}
      >
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        accept={accept}
        className="hidden"
        tabIndex={-1}
        aria-label={label}
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) onFile(file);
          event.target.value = "";
        }}
      />
    </>
  );
}

export const JSON_FILES = ".json,application/json";
