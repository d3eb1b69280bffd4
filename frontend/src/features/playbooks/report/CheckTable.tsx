import type { CheckResult, CheckReview, ReportLabels } from "@/api/types";
import { Badge } from "@/components/Badge";
import { Table, TD } from "@/components/layout";
import { VisibleText } from "@/components/VisibleText";
import { truncate } from "@/lib/text";
import { Quote, type ShowInText } from "./Quote";

interface CheckTableProps {
  checks: readonly CheckResult[];
  labels: ReportLabels;
  /** What people decided about the checks. */
  reviews: readonly CheckReview[];
  show: ShowInText;
  onCheck: (number: number) => void;
}

const MAX_QUOTE = 160;
/** What a confidence says that was not compared with labelled texts, or that nobody has. */
const WITHOUT_MEANING = ["–", "not calibrated"];

/** One row per check. Columns that mean nothing for any of the checks are left out. */
export function CheckTable({ checks, labels, reviews, show, onCheck }: CheckTableProps) {
  const known = checks.map((check) => labels.checks[check.check_id]);
  const withConfidence = known.some((check) => check && !WITHOUT_MEANING.includes(check.confidence));
  const withAgreement = known.some((check) => check?.shows_votes);
  const reviewed = new Map(reviews.map((review) => [review.check_id, review]));
  const withReview = reviews.some(({ standing }) => standing !== "undecided");
  const columns = [
    "Check",
    withReview ? "By the evaluator" : "Result",
    ...(withReview ? ["After review"] : []),
    "Severity",
    ...(withConfidence ? ["Confidence"] : []),
    ...(withAgreement ? ["Agreement"] : []),
    "First quote",
  ];
  return (
    <Table label={`All checks: ${labels.tally}`} columns={columns} small>
      {checks.map((check, index) => {
        const checkLabels = labels.checks[check.check_id];
        const [first] = check.evidence_citations;
        return (
          <tr key={check.check_id}>
            <td className={`${TD} min-w-36`}>
              <a
                href={`#check-${index + 1}`}
                className="text-link underline"
                onClick={(event) => {
                  event.preventDefault();
                  onCheck(index + 1);
                }}
              >
                {index + 1}. <VisibleText>{checkLabels?.title ?? check.check_id}</VisibleText>
              </a>
            </td>
            <td className={TD}>
              <Badge value={check.result} />
            </td>
            {withReview ? (
              <td className={TD}>
                <ReviewedResult review={reviewed.get(check.check_id)} />
              </td>
            ) : null}
            <td className={TD}>{check.severity}</td>
            {withConfidence ? <td className={`${TD} min-w-36`}>{checkLabels?.confidence}</td> : null}
            {withAgreement ? <td className={TD}>{checkLabels?.votes}</td> : null}
            <td className={`${TD} min-w-64 font-serif`}>
              {first ? (
                <Quote span={shortened(first.span)} location={first.location} show={show} />
              ) : (
                <span className="font-sans text-soft">none</span>
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

const STANDINGS = { undecided: "", accepted: "accepted", overridden: "changed", disputed: "reviewers disagree" };

function ReviewedResult({ review }: { review: CheckReview | undefined }) {
  if (!review || review.standing === "undecided") {
    // A derived result follows from the others, and waits for nobody.
    return <span className="text-soft">{review?.derived ? "–" : "not decided"}</span>;
  }
  return (
    <>
      <Badge value={review.reviewed_result} /> {STANDINGS[review.standing]}
    </>
  );
}

function shortened(span: string): string {
  const { text, omitted } = truncate(span, MAX_QUOTE, 3);
  return omitted ? `${text} …` : text;
}
