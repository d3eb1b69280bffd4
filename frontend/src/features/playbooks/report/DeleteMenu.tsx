import { useNavigate } from "react-router";
import type { StoredReport } from "@/api/types";
import { Menu } from "@/components/Menu";
import { DeleteQuestion } from "../DeleteQuestion";

/** Delete the report, after saying what is erased and what stays. */
export function DeleteMenu({ stored }: { stored: StoredReport }) {
  const navigate = useNavigate();
  const { report, labels, baseline_since: since } = stored;
  return (
    <Menu title="Delete">
      <DeleteQuestion
        id={report.report_id}
        title={labels.title}
        baseline={since !== null}
        onDeleted={() => navigate(`/audit?evaluation=${report.report_id}`)}
      />
    </Menu>
  );
}
