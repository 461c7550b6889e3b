/** Unix milliseconds in the API's format of times. Throws a RangeError for invalid times. */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
