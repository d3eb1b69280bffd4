import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { api } from "@/api/client";
import type { PlaybookFindings } from "@/api/types";
import { Button } from "@/components/Button";
import { FileChooser, JSON_FILES } from "@/components/FileChooser";
import { FactRows, Section } from "@/components/layout";
import { ErrorNotice, Notice } from "@/components/states";
import { useFileDrop } from "@/lib/useFileDrop";
import { Findings } from "../Findings";
import { useReviewerName } from "../review/reviewer";
import { playbookFacts } from "./facts";

interface CheckedFile {
  name: string;
  text: string;
  result: PlaybookFindings;
}

/** Check a file, and save it as a playbook of this server. */
export function ImportPlaybook() {
  const [name, setName] = useReviewerName();
  const id = useId();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (file: CheckedFile) =>
      api.savePlaybook({
        playbook: file.text,
        saved_by: name.trim(),
        note: `Imported from ${file.name}`.slice(0, 500),
        based_on: file.result.newest_number,
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["playbooks"] }),
  });
  const check = useMutation({
    mutationFn: async (file: File): Promise<CheckedFile> => {
      const text = await file.text();
      return { name: file.name, text, result: await api.checkPlaybook(text) };
    },
    onMutate: () => save.reset(),
  });
  const { dragging, handlers } = useFileDrop(check.mutate);
  return (
    <Section title="Import a playbook">
      <fieldset
        aria-label="Playbook file"
        className={`rounded border border-edge border-dashed px-6 py-8 text-center ${dragging ? "bg-blue-tint" : ""}`}
        {...handlers}
      >
        <p className="mb-3 text-soft">Drop a JSON file here. It is checked first, and saved when you say so.</p>
        <FileChooser label="Playbook to import" accept={JSON_FILES} onFile={check.mutate} disabled={check.isPending}>
          {check.isPending ? "Checking …" : "Choose a file"}
        </FileChooser>
      </fieldset>
      <div className="mt-4 space-y-4">
        {check.error ? <ErrorNotice error={check.error} /> : null}
        {check.data ? <Findings result={check.data.result} name={check.data.name} /> : null}
        {check.data?.result.playbook ? (
          <>
            <FactRows facts={playbookFacts(check.data.result.playbook)} />
            <div className="flex flex-wrap items-end gap-3">
              <div>
                <label htmlFor={id} className="block text-sm text-soft">
                  Your name
                </label>
                <input
                  id={id}
                  className="field"
                  value={name}
                  maxLength={200}
                  onChange={(event) => setName(event.target.value)}
                />
              </div>
              <Button
                variant="primary"
                disabled={!name.trim() || save.isPending || save.isSuccess}
                onClick={() => save.mutate(check.data)}
              >
                Save this playbook
              </Button>
            </div>
          </>
        ) : null}
        {save.error ? <ErrorNotice error={save.error} /> : null}
        {save.data ? <Notice tone="green">{`Saved as version ${save.data.listed.saved?.number}.`}</Notice> : null}
      </div>
    </Section>
  );
}
