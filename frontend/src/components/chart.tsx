/** Parts that the charts share. */
import { type Frame, yPosition } from "@/lib/plot";

interface HorizontalLineProps {
  frame: Frame;
  /** Between 0 (bottom) and 1 (top). */
  value: number;
  /** Shown at the axis. */
  label?: string;
  dashed?: boolean;
}

export function HorizontalLine({ frame, value, label, dashed = false }: HorizontalLineProps) {
  const y = yPosition(value, frame);
  return (
    <>
      <line
        x1={frame.left}
        x2={frame.width - frame.right}
        y1={y}
        y2={y}
        {...(dashed ? { strokeDasharray: "4 4" } : {})}
        className={dashed ? "stroke-edge" : "stroke-rule"}
      />
      {label ? (
        <text x={frame.left - 5} y={y + 4} textAnchor="end" className="fill-soft text-[11px]">
          {label}
        </text>
      ) : null}
    </>
  );
}

/** The labels of the first and the last point, at the ends of the horizontal axis. */
export function EndLabels({ frame, labels }: { frame: Frame; labels: readonly string[] }) {
  const y = frame.height - 8;
  return (
    <>
      <text x={frame.left} y={y} className="fill-soft text-[11px]">
        {labels[0]}
      </text>
      {labels.length > 1 ? (
        <text x={frame.width - frame.right} y={y} textAnchor="end" className="fill-soft text-[11px]">
          {labels.at(-1)}
        </text>
      ) : null}
    </>
  );
}
