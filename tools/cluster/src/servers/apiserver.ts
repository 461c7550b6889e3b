import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from '../state.ts';

export interface ApiServerOptions {
  readonly dir: string;
  /** Takes `kube-apiserver` as its first argument. */
  readonly program: string;
  readonly port: number;
  readonly etcdPort: number;
  readonly token: string;
  /** `A=true,B=false`. */
  readonly featureGates?: string | undefined;
  /** Whether the audit log is written. */
  readonly audit: boolean;
  /** Whether pods get service accounts and their tokens. */
  readonly serviceAccountAdmission: boolean;
  /** Appended, so that they win. */
  readonly extraArgs: readonly string[];
}

/** One line for every request, without its content. */
const METADATA_AUDIT_POLICY = [
  'apiVersion: audit.k8s.io/v1',
  'kind: Policy',
  'omitStages: [RequestReceived]',
  'rules: [{ level: Metadata }]',
  '',
].join('\n');

/** The serving certificate and its authority, made by kube-apiserver itself on its first start. */
export function certificateFile(dir: string): string {
  return join(dir, 'certs', 'apiserver.crt');
}

/** Its key. */
export function certificateKeyFile(dir: string): string {
  return join(dir, 'certs', 'apiserver.key');
}

/** Signs and checks service account tokens; written by `apiServerLaunch`. */
export function serviceAccountKeyFile(dir: string): string {
  return join(dir, 'service-account.key');
}

export function auditLogFile(dir: string): string {
  return join(dir, 'audit.log');
}

/** Writes the files that kube-apiserver reads, and says how to start it. */
export function apiServerLaunch(options: ApiServerOptions): Launch {
  const { dir, program, port } = options;
  const tokens = join(dir, 'tokens.csv');
  writeFileSync(tokens, `${options.token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const key = serviceAccountKeyFile(dir);
  writeServiceAccountKey(key);
  const args = [
    'kube-apiserver',
    `--etcd-servers=http://127.0.0.1:${options.etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(dir, 'certs')}`,
    // A loopback address cannot be an endpoint of the service `kubernetes`; nothing here needs one.
    '--endpoint-reconciler-type=none',
    `--token-auth-file=${tokens}`,
    '--authorization-mode=RBAC',
    // As on real clusters, where admission decides about it.
    '--allow-privileged=true',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--max-requests-inflight=4000',
    '--max-mutating-requests-inflight=2000',
    `--disable-admission-plugins=${disabledPlugins(options).join(',')}`,
    ...optionalArgs(options),
    ...options.extraArgs,
  ];
  return { name: 'apiserver', command: program, args, port };
}

function disabledPlugins(options: ApiServerOptions): string[] {
  // TaintNodesByCondition would keep new nodes unschedulable until a controller has seen them ready.
  const always = ['TaintNodesByCondition'];
  return options.serviceAccountAdmission ? always : [...always, 'ServiceAccount'];
}

function optionalArgs(options: ApiServerOptions): string[] {
  const { featureGates, audit, dir } = options;
  const args: string[] = [];
  if (featureGates !== undefined) args.push(`--feature-gates=${featureGates}`);
  if (audit) args.push(...auditArgs(dir));
  return args;
}

function auditArgs(dir: string): string[] {
  const file = join(dir, 'audit-policy.yaml');
  writeFileSync(file, METADATA_AUDIT_POLICY);
  // 100 GB: never rotated, so that a spec can count all of its lines.
  return [
    `--audit-policy-file=${file}`,
    `--audit-log-path=${auditLogFile(dir)}`,
    '--audit-log-maxsize=100000',
  ];
}

function writeServiceAccountKey(path: string): void {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // Kubernetes reads EC keys only in this form, not as PKCS #8.
  writeFileSync(path, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
}
