/** Which tools a model chose for which prompt, over all runs of a batch, with the decoys among them. */
import { useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import type { ChosenTool, ToolChoiceRow } from "@/api/types";
import { Label } from "@/components/Badge";
import { Section, Table, TD } from "@/components/layout";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatCount, pluralize } from "@/lib/format";

export function ToolChoices({ batchId }: { batchId: string }) {
  const { data, error, refetch } = useQuery(queries.toolChoices(batchId));
  if (error) {
    return (
      <Section title="Which tools were chosen">
        <ErrorNotice error={error} onRetry={refetch} />
      </Section>
    );
  }
  if (!data?.rows.length) return null;
  return (
    <Section title="Which tools were chosen">
      <p className="mb-2 max-w-prose text-soft">
        A prompt counts by the first tool that the reply asks for. A decoy is a tool that no MCP server of the scenario
        has. A tool that was not offered is one that the model invented.
      </p>
      <Table label="Tool choices" columns={["Prompt", "Right tool", "Right, 95%", "All choices"]}>
        {data.rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two prompts may be the same; their order is fixed
          <ChoiceRow key={index} row={row} />
        ))}
      </Table>
      {data.hidden_rows ? <p className="mt-2 text-soft">… and {pluralize(data.hidden_rows, "other prompt")}.</p> : null}
    </Section>
  );
}

function ChoiceRow({ row }: { row: ToolChoiceRow }) {
  return (
    <tr>
      <th scope="row" className={`${TD} min-w-40 text-left font-normal [overflow-wrap:anywhere]`}>
        <VisibleText>{row.prompt}</VisibleText>
      </th>
      <td className={`${TD} min-w-32 [overflow-wrap:anywhere]`}>
        <VisibleText>{row.expected}</VisibleText>
      </td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>
        {formatCount(row.right)} of {formatCount(row.runs)}{" "}
        <span className="text-sm text-soft">{row.interval_label}</span>
      </td>
      <td className={TD}>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {row.chosen.map((tool) => (
            <li key={tool.name}>
              <Choice tool={tool} />
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}

function Choice({ tool }: { tool: ChosenTool }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 [overflow-wrap:anywhere]">
      <VisibleText>{tool.name}</VisibleText>
      <span className="tabular-nums">{formatCount(tool.count)}</span>
      {tool.is_decoy ? <Label tone="red">decoy</Label> : null}
      {tool.is_offered ? null : <Label tone="red">not offered</Label>}
      {tool.is_offered && !tool.is_decoy && !tool.is_right ? <Label tone="amber">not right</Label> : null}
    </span>
  );
}
