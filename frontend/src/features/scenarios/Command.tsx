import { useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import { CopyButton } from "@/components/CopyButton";

/** A command of the terminal, with the option that it needs to find these runs. */
export function Command({ text }: { text: string }) {
  const option = useQuery(queries.about()).data?.store_option;
  const command = option ? `${text} ${option}` : text;
  return (
    <>
      <code className="[overflow-wrap:anywhere]">{command}</code> <CopyButton text={command} label="the command" />
    </>
  );
}
