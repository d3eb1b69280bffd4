import { useEffect, useId, useRef, useState } from "react";
import { Button } from "@/components/Button";

interface BlindCardProps<Answer extends string> {
  title: React.ReactNode;
  /** How far the reviewer is. */
  status: string;
  /** What is asked, below what is to be decided. */
  question: string;
  /** Each has its own key. `b` goes back. */
  answers: readonly { answer: Answer; text: string; key: string }[];
  isPending: boolean;
  onAnswer: (answer: Answer, note: string) => void;
  onBack?: () => void;
  /** What is to be decided. */
  children: React.ReactNode;
  /** Shown beside what is to be decided; on a narrow screen, between it and the answers. */
  aside?: React.ReactNode;
}

/** One question that a person decides without seeing any result. Its keys work while the focus is in it, and not in a text field. */
export function BlindCard<Answer extends string>(props: BlindCardProps<Answer>) {
  const { answers, isPending, onAnswer, onBack, aside } = props;
  const noteId = useId();
  const titleId = useId();
  const card = useRef<HTMLElement>(null);
  const [note, setNote] = useState("");
  useEffect(() => card.current?.focus(), []);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const isTyping = event.target instanceof HTMLTextAreaElement;
    if (isTyping || isPending || event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = answers.find(({ key }) => key === event.key.toLowerCase());
    if (chosen) onAnswer(chosen.answer, note);
    else if (event.key.toLowerCase() === "b" && onBack) onBack();
  };
  return (
    <section
      ref={card}
      tabIndex={-1}
      aria-labelledby={titleId}
      onKeyDown={onKeyDown}
      className={`rounded border border-rule bg-card px-5 py-4 ${aside ? "grid grid-cols-[minmax(0,1fr)] gap-x-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-rows-[auto_1fr]" : ""}`}
    >
      <div className={aside ? "lg:col-start-2" : ""}>
        <p role="status" className="text-sm text-soft">
          {props.status}
        </p>
        <h2 id={titleId} className="mt-1 text-xl">
          {props.title}
        </h2>
        {props.children}
      </div>
      {aside ? <div className="mt-4 min-w-0 lg:col-start-1 lg:row-span-2 lg:row-start-1 lg:mt-0">{aside}</div> : null}
      <fieldset className={`mt-5 border-rule border-t pt-4 ${aside ? "lg:col-start-2" : ""}`} disabled={isPending}>
        <legend className="float-left mb-2 w-full font-semibold">{props.question}</legend>
        <div className="clear-both flex flex-wrap gap-3">
          {answers.map(({ answer, text, key }) => (
            <Button key={answer} aria-keyshortcuts={key} onClick={() => onAnswer(answer, note)}>
              {text} <kbd className="text-sm text-soft">{key}</kbd>
            </Button>
          ))}
          {onBack ? (
            <Button variant="text" aria-keyshortcuts="b" onClick={onBack}>
              Change the previous answer <kbd className="text-sm">b</kbd>
            </Button>
          ) : null}
        </div>
        <label htmlFor={noteId} className="mt-4 block text-sm text-soft">
          Note (optional)
        </label>
        <textarea
          id={noteId}
          className="field"
          rows={2}
          maxLength={4000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
      </fieldset>
    </section>
  );
}

/** A part of what is to be decided, with its heading. */
export function BlindCardPart({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="mt-4">
      <h3 className="mb-1 text-[0.8rem] font-semibold text-soft">{title}</h3>
      {children}
    </div>
  );
}
