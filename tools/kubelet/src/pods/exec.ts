import { spawn } from 'node:child_process';
import { KubeletError } from '../errors.ts';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; any exit code is a result. */
export async function finished(
  command: string,
  args: readonly string[],
  options: {
    readonly input?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly timeoutMs?: number;
  } = {},
): Promise<Finished> {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? 30_000,
    killSignal: 'SIGKILL',
    ...(options.env === undefined ? {} : { env: { ...options.env } }),
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => resolve(exit ?? 128));
  });
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

/** The same, for what has to succeed. @throws KubeletError with what it wrote. */
export async function succeed(command: string, args: readonly string[], input?: string): Promise<string> {
  const result = await finished(command, args, input === undefined ? {} : { input });
  if (result.code === 0) return result.stdout;
  throw new KubeletError(
    `\`${command} ${args.join(' ')}\` ended with code ${result.code}: ${result.stderr.trim()}`,
  );
}
