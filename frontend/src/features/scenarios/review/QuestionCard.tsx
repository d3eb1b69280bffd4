import type { BlindQuestion, LabelAnswer } from "@/api/types";
import { BlindCard, BlindCardPart } from "@/components/BlindCard";
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

/** One question about a judged run. */
export function QuestionCard({ question, ...card }: QuestionCardProps) {
  const parts = [
    ["What must hold", question.rubric],
    ...(question.scale ? [["Scale", question.scale]] : []),
    ...Object.entries(question.transcript).map(([name, text]) => [BLOCKS[name] ?? name, text]),
  ] as [string, string][];
  return (
    <BlindCard
      title={
        <>
          <VisibleText>{question.assertion}</VisibleText>
          {question.turn === null ? null : `, turn ${question.turn}`}
        </>
      }
      question="Does it hold?"
      answers={ANSWERS}
      {...card}
    >
      {parts.map(([title, text]) => (
        <BlindCardPart key={title} title={title}>
          <LongText text={text} label={title} mono={false} />
        </BlindCardPart>
      ))}
    </BlindCard>
  );
}
