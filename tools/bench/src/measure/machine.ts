import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly node: string;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    kernel: `${type()} ${release()}`,
    node: process.version,
  };
}

/** `AMD EPYC, 2 cores, 25 GB, Linux 6.1.0, Node.js v24.21.0`. */
export function machineText({ cpu, cores, memoryGb, kernel, node }: Machine): string {
  return `${cpu}, ${cores} core${cores === 1 ? '' : 's'}, ${memoryGb} GB, ${kernel}, Node.js ${node}`;
}
