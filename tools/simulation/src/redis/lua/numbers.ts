/** A number in the exponential form of C, which rounds halves to even where JavaScript rounds them up. */
function exponential(value: number, fraction: number): [string, number] {
  const [mantissa = '', power = '0'] = value.toExponential(fraction).split('e');
  // oxlint-disable-next-line oxc/number-arg-out-of-range -- up to 100 since ES2018
  const exact = value.toExponential(100).split('e')[0] ?? '';
  const kept = exact.slice(0, exact.indexOf('.') + 1 + fraction);
  const isHalf = /^50*$/u.test(exact.slice(kept.length));
  return [isHalf && /[02468]\.?$/u.test(kept) ? kept.replace(/\.$/u, '') : mantissa, Number(power)];
}

/** C's `%.<digits>g`. */
export function formatGeneral(value: number, digits: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const significant = Math.max(digits, 1);
  const [mantissa, exponent] = exponential(value, significant - 1);
  if (exponent < -4 || exponent >= significant) return `${clean(mantissa)}e${exponentOf(exponent)}`;
  return clean(shifted(mantissa, exponent));
}

/** The digits with the point moved. */
function shifted(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replaceAll(/[-.]/gu, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/** C's `%.<digits>e`. */
export function formatExponent(value: number, digits: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  const [mantissa, exponent] = exponential(value, digits);
  return `${mantissa}e${exponentOf(exponent)}`;
}

export function notFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}

function exponentOf(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function clean(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/u, '').replace(/\.$/u, '') : text;
}

/** A number as `tostring` and `..` write it (`%.14g`). */
export function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e14 && !Object.is(value, -0)) return String(value);
  return formatGeneral(value, 14);
}

const DECIMAL = /^[ \t\n\v\f\r]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[ \t\n\v\f\r]*$/u;
const HEXADECIMAL = /^[ \t\n\v\f\r]*([+-]?)(0[xX][0-9a-fA-F]+)[ \t\n\v\f\r]*$/u;
const SPECIAL = /^[ \t\n\v\f\r]*([+-]?)(inf|infinity|nan)[ \t\n\v\f\r]*$/iu;

/** The number that a text is, by the rules of Lua 5.1; undefined if it is none. */
export function parseNumber(text: string): number | undefined {
  const decimal = DECIMAL.exec(text)?.[1];
  if (decimal !== undefined) return Number(decimal);
  const hexadecimal = HEXADECIMAL.exec(text);
  if (hexadecimal) return Number(hexadecimal[2]) * (hexadecimal[1] === '-' ? -1 : 1);
  const special = SPECIAL.exec(text);
  if (!special) return undefined;
  const value = special[2]?.toLowerCase() === 'nan' ? NaN : Infinity;
  return special[1] === '-' ? -value : value;
}
