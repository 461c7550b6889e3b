import { join } from 'node:path';
import { aptInstall } from '../cluster/src/build/apt.ts';
import { cacheRoot } from '../cluster/src/build/cache-dir.ts';
import { withLock } from '../cluster/src/servers/lock.ts';
import { which } from '../cluster/src/run.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'] as const;

/**
 * Path of a real Chromium: the one on PATH; else Debian's, installed with apt-get when this is root (once; processes that
 * ask at once install once). Throws with the command to type when neither is possible.
 */
export async function ensureChromium(log: (line: string) => void): Promise<string> {
  return present() ?? (await installed(log)) ?? missing();
}

function present(): string | undefined {
  return NAMES.map((name) => which(name)).find((path) => path !== undefined);
}

async function installed(log: (line: string) => void): Promise<string | undefined> {
  if (process.getuid?.() !== 0 || which('apt-get') === undefined) return undefined;
  const onWait = ({ pid }: { pid: number }): void =>
    log(`process ${pid} is installing Chromium: waiting for it`);
  return await withLock({ path: join(cacheRoot(), 'chromium.lock'), onWait }, async () => {
    if (present() !== undefined) return present();
    log('installing Chromium: apt-get install chromium');
    const result = await aptInstall(['chromium', 'fonts-dejavu-core']);
    if (result.code !== 0) log(`apt-get install chromium failed:\n${result.tail}`);
    return present();
  });
}

function missing(): never {
  throw new Error(
    'expected Chromium, found none on PATH. Type one of: `apt-get install chromium`, `dnf install chromium`, ' +
      '`apk add chromium`, `brew install --cask chromium`',
  );
}
