/** The documents among files that were dropped or chosen; folders are read with what is inside of them. */

export interface ChosenFile {
  file: File;
  /** Its path within the folder that was chosen, or its name. */
  name: string;
}

const SUFFIXES = [".txt", ".md", ".docx", ".pdf"];
export const ACCEPTED = SUFFIXES.join(",");
/** Documents of one batch. */
export const MAX_DOCUMENTS = 1000;

/** Whether a file is a document by its name. Hidden files and the lock files of Word are none. */
export function isDocument(path: string): boolean {
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.some((part) => part.startsWith(".")) || name.startsWith("~$")) return false;
  return SUFFIXES.some((suffix) => name.toLowerCase().endsWith(suffix));
}

/** The title of each document, which no other one has: its name without the ending, unless that is ambiguous. */
export function documentTitles(names: readonly string[]): string[] {
  const withoutEnding = names.map((name) => name.replace(/\.[^./]+$/, ""));
  return names.map((name, index) => {
    const title = withoutEnding[index] ?? name;
    return withoutEnding.filter((other) => other === title).length === 1 ? title : name;
  });
}

/** Add files by their name; a file that is chosen again replaces the earlier one. */
export function mergeFiles(files: readonly ChosenFile[], added: readonly ChosenFile[]): ChosenFile[] {
  const byName = new Map(files.map((chosen) => [chosen.name, chosen]));
  for (const chosen of added) if (isDocument(chosen.name)) byName.set(chosen.name, chosen);
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names of the files that are no documents, each once. */
export function leftOutNames(names: readonly string[], added: readonly ChosenFile[]): string[] {
  const others = added.filter(({ name }) => !isDocument(name)).map(({ name }) => name);
  return [...new Set([...names, ...others])].sort();
}

/** The files of an input. Those of a chosen folder have their path in it, without the folder's own name. */
export function inputFiles(list: FileList): ChosenFile[] {
  return [...list].map((file) => ({
    file,
    name: file.webkitRelativePath ? file.webkitRelativePath.split("/").slice(1).join("/") : file.name,
  }));
}

/** The files that were dropped, with those inside of dropped folders. */
export async function droppedFiles(data: DataTransfer): Promise<{ files: ChosenFile[]; folder: string }> {
  // Entries must be taken at once: the list is empty after the first pause.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null).filter((entry) => entry !== null);
  if (!entries.length) return { files: [...data.files].map((file) => ({ file, name: file.name })), folder: "" };
  const only = entries.length === 1 ? entries[0] : undefined;
  if (only?.isDirectory) return { files: await folderFiles(only as FileSystemDirectoryEntry, ""), folder: only.name };
  const files = await Promise.all(entries.map((entry) => entryFiles(entry, "")));
  return { files: files.flat(), folder: "" };
}

async function entryFiles(entry: FileSystemEntry, path: string): Promise<ChosenFile[]> {
  if (entry.isDirectory) return folderFiles(entry as FileSystemDirectoryEntry, `${path}${entry.name}/`);
  const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
  return [{ file, name: `${path}${entry.name}` }];
}

async function folderFiles(folder: FileSystemDirectoryEntry, path: string): Promise<ChosenFile[]> {
  const reader = folder.createReader();
  const found: ChosenFile[] = [];
  for (;;) {
    // It returns a part of the entries at a time, and none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    for (const entry of entries) found.push(...(await entryFiles(entry, path)));
  }
}
