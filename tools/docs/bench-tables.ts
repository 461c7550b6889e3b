/** What one table of `npm run bench` says, by the first cell of each row. */
export type BenchTable = ReadonlyMap<string, readonly string[]>;

/**
 * The table that the bench wrote for a scenario into a page.
 *
 * @throws Error if the page has none.
 */
export function benchTable(page: string, scenario: string): BenchTable {
  const marked = new RegExp(`<!-- bench begin: reroll/${scenario} -->([^]*?)<!-- bench end`, 'u').exec(page);
  if (marked?.[1] === undefined)
    throw new Error(`expected the page to have a table of the scenario ${scenario}`);
  const rows = marked[1].split('\n').filter((line) => line.startsWith('|'));
  return new Map(
    rows.map((line) => {
      const [, name = '', ...cells] = line.split('|').map((cell) => cell.trim());
      return [name, cells];
    }),
  );
}
