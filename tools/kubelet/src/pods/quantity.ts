const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** `500m`, `128Mi`, `2`. @throws RangeError for anything else. */
export function quantity(text: string): number {
  const [, digits = '', unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (digits === '' || factor === undefined)
    throw new RangeError(`expected a quantity like 500m, given ${text}`);
  return Number(digits) * factor;
}

/** How often the divisor fits, rounded up, as fields of resources are told to containers. */
export function divided(text: string, divisor = '1'): string {
  const by = divisor === '0' || divisor === '' ? 1 : quantity(divisor);
  // 0.3 / 0.1 is a little more than 3.
  return String(Math.ceil(Number((quantity(text) / by).toFixed(6))));
}
