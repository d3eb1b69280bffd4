/** The playbook that is being edited, with the problems that the server finds in it. */
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useState } from "react";
import { api } from "@/api/client";
import type { PlaybookDocument, PlaybookFindings, PlaybookProblem } from "@/api/types";
import { jsonPath, nextVersion, type Path, textAt, withValue } from "./document";

/** Milliseconds after the last change until the playbook is checked again. */
const CHECK_DELAY = 500;
const VERSION: Path = ["metadata", "version"];

export interface Editing {
  document: PlaybookDocument;
  /** Whether something was changed since the playbook was opened. */
  isChanged: boolean;
  change: (path: Path, value: unknown) => void;
  replace: (document: PlaybookDocument) => void;
  /** The server's findings about the document as it is; undefined while they are awaited. */
  findings: PlaybookFindings | undefined;
  checkError: unknown;
  /** Errors beside fields are shown once a field was left, or all of them after an attempt to save. */
  problemsAt: (path: Path) => PlaybookProblem[];
  touch: (path: Path) => void;
  showAll: () => void;
}

const Context = createContext<Editing | null>(null);

export function useEditing(): Editing {
  const editing = useContext(Context);
  if (!editing) throw new Error("useEditing must be used within an EditingProvider");
  return editing;
}

interface EditingProviderProps {
  initial: PlaybookDocument;
  /** The version that is saved, if there is one: the first change gives the document another one. */
  savedVersion: string | null;
  children: React.ReactNode;
}

export function EditingProvider({ initial, savedVersion, children }: EditingProviderProps) {
  const [document, setDocument] = useState(initial);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [allShown, setAllShown] = useState(false);
  const settled = useSettled(document);
  const check = useQuery({
    queryKey: ["playbooks", "check", settled],
    queryFn: ({ signal }) => api.checkPlaybook(settled, signal),
    gcTime: 0,
  });
  const findings = settled === document ? check.data : undefined;
  const lastFindings = check.data;
  const editing = useMemo<Editing>(
    () => ({
      document,
      isChanged: document !== initial,
      change: (path, value) =>
        setDocument((current) => {
          const changed = withValue(current, path, value);
          const isOld = savedVersion !== null && textAt(current, VERSION) === savedVersion;
          return isOld && path.join() !== VERSION.join()
            ? withValue(changed, VERSION, nextVersion(savedVersion))
            : changed;
        }),
      replace: setDocument,
      findings,
      checkError: check.error,
      problemsAt: (path) => {
        const place = jsonPath(path);
        if (!allShown && !touched.has(place)) return [];
        return (lastFindings?.findings ?? []).filter(
          (finding) => finding.level === "error" && isWithin(finding.path, place),
        );
      },
      touch: (path) => setTouched((current) => new Set([...current, jsonPath(path)])),
      showAll: () => setAllShown(true),
    }),
    [document, initial, savedVersion, findings, lastFindings, check.error, touched, allShown],
  );
  return <Context value={editing}>{children}</Context>;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}[`) || path.startsWith(`${place}.`);
}

/** The value once it has not changed for a moment. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), CHECK_DELAY);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
