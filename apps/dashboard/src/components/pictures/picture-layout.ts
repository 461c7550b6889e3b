import type { Ref } from '../../names.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Undefined: it stands for the rest. */
  readonly ref: Ref | undefined;
  readonly kind: string;
  readonly name: string;
  readonly isHub: boolean;
}

export interface Line {
  readonly path: string;
  readonly rolls: boolean;
}

interface Input {
  readonly width: number;
  readonly hub: Ref;
  readonly spokes: readonly { readonly ref: Ref; readonly rolls: boolean }[];
  /** A source stands to the left of its workloads, a workload to the right of its sources. */
  readonly isHubLeft: boolean;
}

/** More than these are counted in one box. */
const MOST = 12;
const HEIGHT = 42;
const GAP = 10;
const NARROW = 520;
/** Width of a letter, a little too wide, so that text never leaves its box. */
const LETTER = 7.4;

/** Where everything of a picture stands, for a width in pixels. Narrow: the hub on top, the others below it. */
export function layout(input: Input): { height: number; boxes: Box[]; lines: Line[] } {
  const rows = rowsOf(input);
  return input.width < NARROW ? stacked(input, rows) : sideBySide(input, rows);
}

interface Row {
  readonly ref: Ref | undefined;
  readonly kind: string;
  readonly name: string;
  readonly rolls: boolean;
}

/** Those that roll first. */
function rowsOf({ spokes, hub }: Input): Row[] {
  const sorted = [...spokes].sort((a, b) => Number(b.rolls) - Number(a.rolls));
  const shown = sorted.length > MOST ? sorted.slice(0, MOST - 1) : sorted;
  const rows = shown.map(({ ref, rolls }) => ({ ref, rolls, kind: ref.kind, name: nameOf(ref, hub) }));
  const rest = sorted.slice(shown.length);
  if (rest.length === 0) return rows;
  const rolls = rest.some((each) => each.rolls);
  return [...rows, { ref: undefined, rolls, kind: 'and', name: `${rest.length} more, in the table` }];
}

function nameOf(ref: Ref, hub: Ref): string {
  return ref.namespace === hub.namespace ? ref.name : `${ref.namespace}/${ref.name}`;
}

function sideBySide({ width, hub, isHubLeft }: Input, rows: readonly Row[]): ReturnType<typeof layout> {
  const box = Math.min(280, Math.floor(width * 0.4));
  const height = Math.max(1, rows.length) * (HEIGHT + GAP) - GAP + 4;
  const middle = height / 2;
  const hubX = isHubLeft ? 1 : width - box - 1;
  const otherX = isHubLeft ? width - box - 1 : 1;
  const [from, to] = isHubLeft ? [hubX + box, otherX] : [hubX, otherX + box];
  const bend = (from + to) / 2;
  const boxes = rows.map((row, index) =>
    boxOf(row, { x: otherX, y: 2 + index * (HEIGHT + GAP), width: box }),
  );
  const lines = boxes.map(({ y }, index) => {
    const end = y + HEIGHT / 2;
    return {
      path: `M${from} ${middle}C${bend} ${middle} ${bend} ${end} ${to} ${end}`,
      rolls: isRolling(rows, index),
    };
  });
  const hubBox = boxOf(hubRow(hub), { x: hubX, y: middle - HEIGHT / 2, width: box });
  return { height, lines, boxes: [{ ...hubBox, isHub: true }, ...boxes] };
}

function stacked({ width, hub }: Input, rows: readonly Row[]): ReturnType<typeof layout> {
  const indent = 28;
  const top = HEIGHT + GAP + 2;
  const hubBox = boxOf(hubRow(hub), { x: 1, y: 2, width: width - 2 });
  const boxes = rows.map((row, index) =>
    boxOf(row, { x: indent, y: top + index * (HEIGHT + GAP), width: width - indent - 1 }),
  );
  const lines = boxes.map(({ y }, index) => ({
    path: `M14 ${HEIGHT + 2}V${y + HEIGHT / 2}H${indent}`,
    rolls: isRolling(rows, index),
  }));
  return { height: top + rows.length * (HEIGHT + GAP), lines, boxes: [{ ...hubBox, isHub: true }, ...boxes] };
}

function isRolling(rows: readonly Row[], index: number): boolean {
  return rows[index]?.rolls === true;
}

function hubRow(hub: Ref): Row {
  return { ref: hub, kind: hub.kind, name: hub.name, rolls: true };
}

function boxOf({ ref, kind, name }: Row, at: { x: number; y: number; width: number }): Box {
  const most = Math.max(4, Math.floor((at.width - 20) / LETTER));
  return { ...at, height: HEIGHT, ref, kind, name: shortened(name, most), isHub: false };
}

/** Cut in the middle: names differ at their ends. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}
