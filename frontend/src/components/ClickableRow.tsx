import { useNavigate } from "react-router";

interface ClickableRowProps {
  to: string;
  selected?: boolean;
  children: React.ReactNode;
}

/** A table row that opens `to` when clicked. The click is for the mouse; keyboard users follow the link in the row. */
export function ClickableRow({ to, selected = false, children }: ClickableRowProps) {
  const navigate = useNavigate();
  return (
    <tr
      className={`cursor-pointer hover:bg-well ${selected ? "bg-blue-tint" : ""}`}
      onClick={(event) => {
        if (!(event.target as Element).closest("a, button, input, label")) navigate(to);
      }}
    >
      {children}
    </tr>
  );
}
