/** Unix milliseconds as the API gives times. Throws a RangeError for what is no time. */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
