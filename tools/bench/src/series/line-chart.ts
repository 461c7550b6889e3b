/** One measured point. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface ChartText {
  readonly title: string;
  readonly x: string;
  readonly y: string;
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 360, 70, 20, 44, 54];

/** An SVG of one line over a logarithmic x axis. The y axis begins at 0. It is readable on light and on dark pages. */
export function lineChart(points: readonly Point[], text: ChartText): string {
  const xs = points.map(({ x }) => Math.log(x));
  const [least, span] = [Math.min(...xs), Math.max(...xs) - Math.min(...xs) || 1];
  const step = niceStep(Math.max(...points.map(({ y }) => y)) / 4);
  const top = step * Math.ceil(Math.max(...points.map(({ y }) => y)) / step);
  const at = ({ x, y }: Point): [string, string] => [
    (LEFT + ((Math.log(x) - least) / span) * (WIDTH - LEFT - RIGHT)).toFixed(1),
    (HEIGHT - BOTTOM - (y / top) * (HEIGHT - TOP - BOTTOM)).toFixed(1),
  ];
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  const grid = lines.map((y) => {
    const [, height] = at({ x: points[0]?.x ?? 1, y });
    return (
      `<line x1="${LEFT}" y1="${height}" x2="${WIDTH - RIGHT}" y2="${height}" stroke="#8886"/>` +
      label(LEFT - 8, height, { text: number(y), anchor: 'end' })
    );
  });
  const marks = points.map((point) => {
    const [x, y] = at(point);
    return (
      `<circle cx="${x}" cy="${y}" r="4" fill="#3b82f6"/>` +
      label(x, Number(y) - 12, { text: number(point.y), anchor: 'middle' }) +
      label(x, HEIGHT - BOTTOM + 20, { text: number(point.x), anchor: 'middle' })
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" fill="#888" role="img">`,
    `<title>${text.title}</title>`,
    label(WIDTH / 2, 22, { text: text.title, anchor: 'middle' }),
    ...grid,
    `<polyline points="${points.map((point) => at(point).join(',')).join(' ')}" fill="none" stroke="#3b82f6" stroke-width="2"/>`,
    ...marks,
    label(WIDTH / 2, HEIGHT - 12, { text: text.x, anchor: 'middle' }),
    `<text x="16" y="${HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 ${HEIGHT / 2})">${text.y}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

/** 1, 2 or 5 times a power of ten, at least this. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? least;
}

function label(x: number | string, y: number | string, by: { text: string; anchor: string }): string {
  return `<text x="${x}" y="${y}" text-anchor="${by.anchor}" dominant-baseline="middle">${by.text}</text>`;
}

function number(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}
