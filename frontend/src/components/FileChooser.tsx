import { useRef } from "react";
import { Button } from "./Button";

interface FileChooserProps {
  /** What is chosen, for those who cannot see where it stands. */
  label: string;
  /** File name endings and media types, as the browser takes them. */
  accept: string;
  onFile: (file: File) => void;
  disabled?: boolean;
  className?: string;
  /** What the button says. */
  children: string;
}

/** A button that asks for one file; the same file can be chosen twice in a row, for it may have changed. */
export function FileChooser({ label, accept, onFile, disabled = false, className = "", children }: FileChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button className={className} onClick={() => input.current?.click()} disabled={disabled}>
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
