import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { queries } from "@/api/queries";
import type { GridCell, GridDetail, GridVariant, RateLabels } from "@/api/types";
import { Label, type Tone } from "@/components/Badge";
import { TextLink } from "@/components/Button";
import { ClickableRow } from "@/components/ClickableRow";
import { PageTitle, Section, Table, TD } from "@/components/layout";
import { Loading, Notice, PageError } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatCount, pluralize } from "@/lib/format";
import { VerdictBadge } from "../Badges";
import { ConnectionStatus } from "../ConnectionStatus";
import { PassRate } from "../PassRate";
import { useLiveBatches } from "../useLiveBatches";

const STANDINGS: Record<GridVariant["standing"], Tone> = {
  best: "green",
  "cannot be told from the best": "grey",
  "worse than the best": "red",
  "not compared": "amber",
};

const NO_LABELS: RateLabels = { rate: "", interval: "", required: "" };

/** All cells of a scenario with cases or a matrix, and how its variants compare. */
export function GridPage() {
  const { id = "" } = useParams();
  const connection = useLiveBatches();
  const { data, error, refetch } = useQuery(queries.grid(id));
  return (
    <>
      <ConnectionStatus connection={connection} announcement="" />
      {error ? <PageError title="Grid" error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="the grid" /> : null}
      {data && !error ? <GridView detail={data} /> : null}
    </>
  );
}

function GridView({ detail }: { detail: GridDetail }) {
  const { grid } = detail;
  return (
    <>
      <p className="mb-1 text-sm">
        <TextLink to="/scenarios">Batches of runs</TextLink>
      </p>
      <PageTitle lead={<VisibleText>{detail.headline}</VisibleText>}>{grid.suite}</PageTitle>
      {detail.notes.map((note) => (
        <p key={note} className="max-w-prose first-letter:uppercase">
          <VisibleText>{note}</VisibleText>
        </p>
      ))}
      {detail.skipped ? <Notice tone="amber">{pluralize(detail.skipped, "run")} could not be read.</Notice> : null}
      {grid.variants.length > 1 ? (
        <Section title="Variants">
          <Table
            label="Variants"
            columns={["Variant", "Cells passed", "Runs passed", "Mean pass rate, 95%", "Compared with the best"]}
          >
            {grid.variants.map((variant, index) => (
              <VariantRow
                key={variant.name}
                variant={variant}
                standing={detail.standings[index] ?? variant.standing}
                labels={detail.variant_labels[index] ?? NO_LABELS}
              />
            ))}
          </Table>
        </Section>
      ) : null}
      <Section title="Cells">
        <Table label="Cells" columns={["Cell", "Verdict", "Pass rate, 95%", "Completed", "Errors"]}>
          {grid.cells.map((cell, index) => (
            <CellRow key={cell.batch_id} cell={cell} labels={detail.cell_labels[index] ?? NO_LABELS} />
          ))}
        </Table>
        {detail.hidden_cells ? (
          <p className="mt-2 text-soft">… and {pluralize(detail.hidden_cells, "other cell")}.</p>
        ) : null}
      </Section>
    </>
  );
}

function VariantRow({ variant, standing, labels }: { variant: GridVariant; standing: string; labels: RateLabels }) {
  return (
    <tr>
      <th scope="row" className={`${TD} min-w-40 text-left font-normal [overflow-wrap:anywhere]`}>
        <VisibleText>{variant.name}</VisibleText>
      </th>
      <td className={`${TD} tabular-nums`}>
        {formatCount(variant.cells_passed)} of {formatCount(variant.cells)}
      </td>
      <td className={`${TD} tabular-nums`}>
        {formatCount(variant.passed)} of {formatCount(variant.completed)}
      </td>
      <td className={TD}>
        {variant.interval ? (
          <PassRate rate={variant.pass_rate} interval={variant.interval} labels={labels} />
        ) : (
          labels.rate
        )}
      </td>
      <td className={TD}>
        <Label tone={STANDINGS[variant.standing]}>{standing}</Label>
      </td>
    </tr>
  );
}

function CellRow({ cell, labels }: { cell: GridCell; labels: RateLabels }) {
  return (
    <ClickableRow to={`/scenarios/batches/${cell.batch_id}`}>
      <th scope="row" className={`${TD} min-w-40 text-left font-normal [overflow-wrap:anywhere]`}>
        <TextLink to={`/scenarios/batches/${cell.batch_id}`}>
          <VisibleText>{cell.scenario_id}</VisibleText>
        </TextLink>
      </th>
      <td className={TD}>
        <VerdictBadge verdict={cell.verdict} />
      </td>
      <td className={TD}>
        <PassRate rate={cell.pass_rate} interval={cell.interval} labels={labels} />
      </td>
      <td className={`${TD} tabular-nums`}>
        {formatCount(cell.completed)} of {formatCount(cell.runs)}
      </td>
      <td className={`${TD} tabular-nums`}>{cell.errors ? formatCount(cell.errors) : ""}</td>
    </ClickableRow>
  );
}
