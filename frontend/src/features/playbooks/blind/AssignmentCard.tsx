import { useMemo, useRef } from "react";
import type { BlindAssignment, Result } from "@/api/types";
import { BlindCard, BlindCardPart } from "@/components/BlindCard";
import { Details } from "@/components/Details";
import { LongText } from "@/components/LongText";
import { ScrollRegion } from "@/components/layout";
import { VisibleText } from "@/components/VisibleText";
import { FrozenText } from "../report/frozen/FrozenText";
import { structureByLine } from "../report/frozen/structure";

const ANSWERS: { answer: Result; text: string; key: string }[] = [
  { answer: "pass", text: "Pass", key: "p" },
  { answer: "fail", text: "Fail", key: "f" },
  { answer: "indeterminate", text: "Cannot tell", key: "u" },
];
const OTHER_TEXTS = [
  ["source_document", "Source document"],
  ["prompt", "Prompt"],
  ["system_instructions", "System instructions"],
] as const;

interface AssignmentCardProps {
  assignment: BlindAssignment;
  status: string;
  isPending: boolean;
  onAnswer: (result: Result, reason: string) => void;
  onBack?: () => void;
}

/** One check of one text: its question and instructions, and the text beside them. */
export function AssignmentCard({ assignment, ...card }: AssignmentCardProps) {
  return (
    <BlindCard
      title={<VisibleText>{assignment.title}</VisibleText>}
      question="What is the result of this check?"
      answers={ANSWERS}
      aside={<Text assignment={assignment} />}
      {...card}
    >
      <p className="foreign mt-1">
        <VisibleText>{assignment.question}</VisibleText>
      </p>
      {assignment.instructions ? (
        <BlindCardPart title="Instructions of the check">
          <LongText text={assignment.instructions} label="Instructions of the check" mono={false} />
        </BlindCardPart>
      ) : null}
    </BlindCard>
  );
}

const NO_RESULTS: ReadonlyMap<number, Result> = new Map();
const NO_CHECK = () => undefined;

function Text({ assignment }: { assignment: BlindAssignment }) {
  const { texts } = assignment;
  const scroller = useRef<HTMLElement>(null);
  const structure = useMemo(() => structureByLine(texts.ai_output, texts.outline), [texts]);
  return (
    <>
      <ScrollRegion
        ref={scroller}
        label="Text"
        className="relative max-h-[60vh] overflow-y-auto rounded border border-rule py-4 pr-5 lg:max-h-[72vh]"
      >
        <FrozenText
          text={texts.ai_output}
          places={[]}
          structure={structure}
          results={NO_RESULTS}
          target={null}
          onCheck={NO_CHECK}
          scroller={scroller}
        />
      </ScrollRegion>
      {OTHER_TEXTS.map(([name, title]) => {
        const text = texts[name];
        return text ? (
          <div key={name} className="mt-2">
            <Details title={title}>
              <LongText text={text} label={title} mono={false} expanded />
            </Details>
          </div>
        ) : null;
      })}
    </>
  );
}
