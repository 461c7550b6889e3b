import { join } from 'node:path';
import type { Launch } from '../state.ts';

export interface EtcdOptions {
  readonly dir: string;
  readonly controlplane: string;
  readonly port: number;
  readonly peerPort: number;
}

/** A single etcd that does not sync to disk: its data outlive a kill, not a power cut. */
export function etcdLaunch(options: EtcdOptions): Launch {
  const { dir, controlplane, port, peerPort } = options;
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const args = [
    'etcd',
    '--name=local',
    `--data-dir=${join(dir, 'etcd')}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=local=${peer}`,
    // Alone it always wins its election: no reason to wait a second for it.
    '--heartbeat-interval=20',
    '--election-timeout=200',
    // Load tests write more than the default of 2 GB.
    '--quota-backend-bytes=8589934592',
    '--log-level=warn',
  ];
  return { name: 'etcd', command: controlplane, args, port };
}
