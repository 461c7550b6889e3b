/**
 * Formats a number as C's `%.<digits>g` does.
 */
export function formatGeneral(value: number, digits: number, keepsZeros = false): string {
  if (!Number.isFinite(value)) return notFinite(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const significant = Math.max(digits, 1);
  const [mantissa = '', power = '0'] = value.toExponential(significant - 1).split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= significant)
    return `${clean(mantissa, keepsZeros)}e${exponentOf(exponent)}`;
  return clean(value.toFixed(Math.max(significant - 1 - exponent, 0)), keepsZeros);
}

/** C's `%e`. */
export function formatExponent(value: number, digits: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  const [mantissa = '', power = '0'] = value.toExponential(digits).split('e');
  return `${mantissa}e${exponentOf(Number(power))}`;
}

export function notFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}

function exponentOf(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function clean(text: string, keepsZeros: boolean): string {
  if (keepsZeros || !text.includes('.')) return text;
  return text.replace(/\.?0+$/u, '');
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
