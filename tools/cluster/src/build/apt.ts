import { type RunResult, run } from '../run.ts';

/** Installs Debian packages; for root, where `apt-get` is on PATH. Waits for another apt-get, five minutes at most. */
export async function aptInstall(packages: readonly string[], signal?: AbortSignal): Promise<RunResult> {
  await aptGet(['update'], signal);
  return await aptGet(['install', '-y', '--no-install-recommends', ...packages], signal);
}

async function aptGet(args: readonly string[], signal: AbortSignal | undefined): Promise<RunResult> {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  return await run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env, signal });
}
