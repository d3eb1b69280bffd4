import { type DragEvent, useState } from "react";

/** Handlers that make an element accept a dropped file, and whether one is being dragged over it. */
export function useFileDrop(onFile: (file: File) => void) {
  const [dragging, setDragging] = useState(false);
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      setDragging(true);
    },
    onDragLeave: () => setDragging(false),
    onDrop: (event: DragEvent) => {
      const file = event.dataTransfer.files[0];
      if (!file) return;
      event.preventDefault();
      setDragging(false);
      onFile(file);
    },
  };
  return { dragging, handlers };
}
