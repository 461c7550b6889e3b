import type { ChartValues } from '../render.ts';

/** Both, maps within them joined; where they differ the second one holds, as of two values files. */
export function merged(first: ChartValues, second: ChartValues): ChartValues {
  const joined = Object.entries(second).map(([key, value]) => {
    const old = first[key];
    return [key, isMap(old) && isMap(value) ? merged(old, value) : value] as const;
  });
  return { ...first, ...Object.fromEntries(joined) };
}

function isMap(value: unknown): value is ChartValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
