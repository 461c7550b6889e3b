/**
 * Makes the pictures of the dashboard in `docs/images`, of the real thing: a control plane, Redis, watchers, workers and an
 * admin, in which the shop of the demo has changed, rolled out, and one rollout is stuck.
 *
 * Usage: `npm run -s screenshots`
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStage } from '../demo/src/stage.ts';
import { takePictures } from './src/pictures.ts';
import { playShop, TOKEN, tokensFile } from './src/shop-scene.ts';

const FOLDER = join(import.meta.dirname, '../../docs/images');

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

const log = (line: string): void => console.log(line);
const scratch = mkdtempSync(join(tmpdir(), 'reroll-screenshots-'));
const adminFlags = ['--auth=static', `--static-tokens-file=${tokensFile(scratch)}`];
const stage = await openStage({ log, signal: interruption.signal, adminFlags });
try {
  await stage.startReroll();
  const url = await stage.startAdmin();
  const shop = await playShop(stage, url);
  mkdirSync(FOLDER, { recursive: true });
  await takePictures({ url: `${url}/`, token: TOKEN, folder: FOLDER, shop, log });
} finally {
  await stage.close();
  rmSync(scratch, { recursive: true, force: true });
}
