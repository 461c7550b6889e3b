import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startCluster } from '../../../cluster/src/cluster.ts';
import { messageOf, UsageError } from '../../../cluster/src/errors.ts';
import { Api } from '../api.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { writeBlock } from '../report/markdown.ts';
import type { Terminal } from '../terminal.ts';
import { usageOf } from '../measure/proc.ts';
import { Processes } from '../processes.ts';
import { startReloader } from '../reloader.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import { measureAttack, p50, p99, writeP50, type AttackFigures } from './measure-attack.ts';
import { Neighbor } from './neighbor.ts';
import { Tenant } from './tenant.ts';

/** What the changes of others may take at most while a tenant does its worst, in milliseconds. */
const TARGET_P99_MS = 1_000;
const SUBJECT = { reroll: { watchers: 2, workers: 2, concurrency: 10, debounce: '0' } };

/** Exit code 0 if nothing was missed and every p99 met the target. */
export async function runHostile(argv: readonly string[], terminal: Terminal): Promise<0 | 1> {
  const { attacks, markdown } = parse(argv);
  const io = { log: (line: string) => terminal.err(`${line}\n`), signal: terminal.signal };
  const { figures, peakMb } = await measure(attacks, io);
  const text = report(figures, peakMb);
  terminal.out(text);
  writeBlock(markdown, 'reroll/hostile', text);
  const unmet = figures.filter(({ during }) => during.missed > 0 || !(p99(during) < TARGET_P99_MS));
  for (const { attack, during } of unmet)
    terminal.err(`not met: ${attack}: ${during.missed} missed, p99 ${p99(during).toFixed(0)} ms\n`);
  return unmet.length === 0 ? 0 : 1;
}

function parse(argv: readonly string[]): { attacks: readonly Attack[]; markdown: string | undefined } {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { scenario: text, attack: text, markdown: text },
    });
    const wanted = values.attack ?? '';
    const attacks = ATTACKS.filter(({ name }) => name.includes(wanted));
    if (attacks.length === 0)
      throw new TypeError(`--attack: expected a part of the name of an attack, given ${wanted}`);
    return { attacks, markdown: values.markdown };
  } catch (error) {
    throw new UsageError([messageOf(error)]);
  }
}

interface Measured {
  readonly figures: readonly AttackFigures[];
  /** Peak resident memory by process, over all attacks. */
  readonly peakMb: ReadonlyMap<string, number>;
}

/** Starts a cluster, Reroll and a neighbor, and lets one tenant after the other do its worst. Everything ends with it. */
async function measure(
  attacks: readonly Attack[],
  io: { log: (line: string) => void; signal: AbortSignal },
): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-bench-hostile-'));
  const ends: (() => Promise<unknown> | void)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const cluster = await startCluster({ dir: join(dir, 'cluster'), controllerManager: false, ...io });
    ends.push(() => cluster.stop());
    const { kubeconfig, redisUrl = '' } = cluster;
    const redis = new Redis(redisUrl);
    ends.push(() => redis.disconnect());
    const api = new Api(kubeconfig);
    ends.push(() => api.close());
    const processes = new Processes();
    ends.push(() => processes.stop());
    const started = await startReloader(SUBJECT, { kubeconfig, redisUrl, signal: io.signal }, processes);
    const neighbor = await Neighbor.settle(new Tenant(api.client, 'neighbor'));
    ends.push(() => neighbor.stop());
    const figures: AttackFigures[] = [];
    for (const [index, attack] of attacks.entries()) {
      io.log(attack.name);
      io.signal.throwIfAborted();
      // oxlint-disable-next-line no-await-in-loop -- one attack at a time
      const measured = await measureAttack(attack, {
        client: api.open(16),
        neighbor,
        namespace: `attacker-${index}`,
        redisBytes: () => usedMemory(redis),
      });
      io.log(rowOf(measured));
      figures.push(measured);
      processes.verify();
    }
    const peakMb = new Map(
      started.processes.map(({ name, pid }) => [name, usageOf(pid)?.peakMb ?? Number.NaN]),
    );
    return { figures, peakMb };
  } finally {
    // oxlint-disable-next-line no-await-in-loop -- what was begun last ends first
    for (const end of ends.reverse()) await end();
  }
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/mu.exec(await redis.info('memory'))?.[1]);
}

function rowOf({ attack, quiet, during, redisBytes }: AttackFigures): string {
  const times = [p50, p99, writeP50].map((of) => `${of(quiet).toFixed(0)} → ${of(during).toFixed(0)} ms`);
  return `| ${attack} | ${times.join(' | ')} | ${during.missed} | ${Math.round(redisBytes / 1000)} KB |`;
}

function report(figures: readonly AttackFigures[], peakMb: ReadonlyMap<string, number>): string {
  const memory = [...peakMb].map(([name, megabytes]) => `${name} ${megabytes.toFixed(0)} MB`);
  return [
    '| what one tenant does | p50: before → meanwhile | p99 | one write to the API server, p50 | missed | Redis grew by |',
    '|---|---:|---:|---:|---:|---:|',
    ...figures.map(rowOf),
    '',
    `Peak resident memory: ${memory.join(', ')}.`,
    `${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}. Two watchers, two workers, API server, etcd, Redis, the attacker and the neighbor share the machine; \`--debounce=0\`.`,
    '',
  ].join('\n');
}
