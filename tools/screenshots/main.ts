/**
 * Makes the pictures of the dashboard in `docs/images`, and of every page, light and dark, in `build/screenshots`. They are of the real
 * thing: a control plane, Redis, watchers, workers and an admin, in which the shop of the demo has changed, rolled out, and one rollout
 * is stuck and one reload held; and a change comes to two hundred workloads in waves.
 *
 * Usage: `npm run -s screenshots`
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStage } from '../demo/src/stage.ts';
import { Api } from './src/api.ts';
import { playFleet } from './src/fleet-scene.ts';
import { takePictures } from './src/pictures.ts';
import { holdOne, playShop, tokensFile } from './src/shop-scene.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = { guide: join(ROOT, 'docs/images'), pages: join(ROOT, 'build/screenshots') };

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

const log = (line: string): void => console.log(line);
const scratch = mkdtempSync(join(tmpdir(), 'reroll-screenshots-'));
const adminFlags = ['--auth=static', `--static-tokens-file=${tokensFile(scratch)}`];
const stage = await openStage({
  log,
  signal: interruption.signal,
  adminFlags,
  clusterName: 'shop-production',
});
try {
  await stage.startReroll();
  const url = await stage.startAdmin();
  const api = new Api(url);
  const shop = await playShop(stage, api);
  await holdOne(stage, api);
  const assignment = { url: `${url}/`, folders: FOLDERS, shop, log };
  for (const folder of Object.values(FOLDERS)) mkdirSync(folder, { recursive: true });
  await takePictures(assignment, 'guide');
  const fleetChange = await playFleet(stage, api);
  await takePictures({ ...assignment, fleetChange }, 'pages');
} finally {
  await stage.close();
  rmSync(scratch, { recursive: true, force: true });
}
