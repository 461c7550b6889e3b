/**
 * Runs the commands of the `console` blocks of docs/guide/cli.md, in which somebody reads what the command line prints, and writes what
 * they print into the page. They run against the shop of the demo: a control plane, Redis, watchers, workers and an admin.
 *
 * Usage: `npm run -s cli-output`
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RerollCli } from '../../e2e/support/admin/reroll-cli.ts';
import { openStage } from '../demo/src/stage.ts';
import { wordsOf } from '../docs/commands.ts';
import { Api, TOKEN } from './src/api.ts';
import { playShop, tokensFile } from './src/shop-scene.ts';

const PAGE = join(import.meta.dirname, '../../docs/guide/cli.md');
const BLOCKS = /^```console\n([^]*?)^```$/gmu;

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

const scratch = mkdtempSync(join(tmpdir(), 'reroll-cli-output-'));
const adminFlags = ['--auth=static', `--static-tokens-file=${tokensFile(scratch)}`];
const stage = await openStage({ log: console.log, signal: interruption.signal, adminFlags });
try {
  await stage.startReroll();
  const url = await stage.startAdmin();
  await playShop(stage, new Api(url));
  const cli = new RerollCli(stage.cluster, [], { env: { REROLL_SERVER: url, REROLL_TOKEN: TOKEN } });
  let page = readFileSync(PAGE, 'utf8');
  for (const [, block = ''] of page.matchAll(BLOCKS)) page = page.replace(block, await again(cli, block));
  writeFileSync(PAGE, page);
} finally {
  await stage.close();
  rmSync(scratch, { recursive: true, force: true });
}

/** The block with what its commands print now, on standard output and then on standard error. */
async function again(cli: RerollCli, block: string): Promise<string> {
  const shown: string[] = [];
  for (const line of block.split('\n').filter((each) => each.startsWith('$ '))) {
    const { code, out, err } = await cli.run(...wordsOf(line.replace(/^\$ kubectl reroll /u, '')));
    if (code !== 0) throw new Error(`expected \`${line}\` to end with 0, ended with ${code}: ${err}`);
    shown.push(`${line}\n${out}${err}`);
  }
  return shown.join('\n');
}
