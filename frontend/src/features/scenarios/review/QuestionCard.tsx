import { useEffect, useId, useRef, useState } from "react";
import type { BlindQuestion, LabelAnswer } from "@/api/types";
import { Button } from "@/components/Button";
import { LongText } from "@/components/LongText";
import { VisibleText } from "@/components/VisibleText";

const ANSWERS: { answer: LabelAnswer; text: string; key: string }[] = [
  { answer: "pass", text: "Pass", key: "p" },
  { answer: "fail", text: "Fail", key: "f" },
  { answer: "unclear", text: "Unclear", key: "u" },
];
const BLOCKS: Record<string, string> = {
  user_message: "What the agent was asked",
  tool_calls: "Tool calls",
  final_output: "What it answered",
  conversation: "Conversation",
};

interface QuestionCardProps {
  question: BlindQuestion;
  status: string;
  isPending: boolean;
  onAnswer: (answer: LabelAnswer, note: string) => void;
  onBack?: () => void;
}

/** One question. Its keys work while the focus is in it, and not in a text field. */
export function QuestionCard({ question, status, isPending, onAnswer, onBack }: QuestionCardProps) {
  const noteId = useId();
  const titleId = useId();
  const card = useRef<HTMLElement>(null);
  const [note, setNote] = useState("");
  useEffect(() => card.current?.focus(), []);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const isTyping = event.target instanceof HTMLTextAreaElement;
    if (isTyping || isPending || event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = ANSWERS.find(({ key }) => key === event.key.toLowerCase());
    if (chosen) onAnswer(chosen.answer, note);
    else if (event.key.toLowerCase() === "b" && onBack) onBack();
  };
  return (
    <section
      ref={card}
      tabIndex={-1}
      aria-labelledby={titleId}
      onKeyDown={onKeyDown}
      className="rounded border border-rule bg-card px-5 py-4"
    >
      <p role="status" className="text-sm text-soft">
        {status}
      </p>
      <h2 id={titleId} className="mt-1 text-xl">
        <VisibleText>{question.assertion}</VisibleText>
        {question.turn === null ? null : `, turn ${question.turn}`}
      </h2>
      <Block title="What must hold" text={question.rubric} />
      {question.scale ? <Block title="Scale" text={question.scale} /> : null}
      {Object.entries(question.transcript).map(([name, text]) => (
        <Block key={name} title={BLOCKS[name] ?? name} text={text} />
      ))}
      <fieldset className="mt-5 border-rule border-t pt-4" disabled={isPending}>
        <legend className="float-left mb-2 w-full font-semibold">Does it hold?</legend>
        <div className="clear-both flex flex-wrap gap-3">
          {ANSWERS.map(({ answer, text, key }) => (
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

function Block({ title, text }: { title: string; text: string }) {
  return (
    <div className="mt-4">
      <h3 className="mb-1 text-[0.8rem] font-semibold text-soft">{title}</h3>
      <LongText text={text} label={title} mono={false} />
    </div>
  );
}
