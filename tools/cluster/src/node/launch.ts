import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodePrograms } from '../build/build-kube-node.ts';
import { writeKubeconfig } from '../servers/kubeconfig.ts';
import type { Launch } from '../state.ts';
import { API_PORT, DNS_IP, NODE_NAME, PAUSE, type Place, placeOf } from './place.ts';

export interface NodeOptions {
  readonly dir: string;
  readonly programs: NodePrograms;
  /** Of the API server. */
  readonly port: number;
  /** Of its admin. */
  readonly token: string;
  /** Whether only pods run here that tolerate `type`: there are fake nodes for the others. */
  readonly tainted: boolean;
}

/** Writes the files that the servers of a node read, and says how to start it. */
export function nodeLaunch(options: NodeOptions): Launch {
  const { dir, programs, port, token } = options;
  const place = placeOf(dir, port);
  const at = (name: string): string => join(place.folder, name);
  for (const name of ['', 'cni', 'containerd', 'kubelet', 'pod-logs'])
    mkdirSync(at(name), { recursive: true });
  const server = `https://${place.nodeIp}:${API_PORT}`;
  writeKubeconfig({ dir, port, token, file: at('kubeconfig'), server });
  writeFileSync(at('containerd.toml'), containerdConfig(place, programs));
  writeJson(at('cni/10-ptp.conflist'), cniConfig(place));
  writeJson(at('kubelet.json'), kubeletConfig(place, options.tainted));
  writeJson(at('kube-proxy.json'), proxyConfig(place));
  writeFileSync(at('Corefile'), corefile(place));
  const program = (name: string): string => join(programs.folder, name);
  const kubeNode = program('kube-node');
  const kubelet = [
    `--config=${at('kubelet.json')}`,
    `--kubeconfig=${at('kubeconfig')}`,
    `--root-dir=${at('kubelet')}`,
    `--cert-dir=${at('kubelet/pki')}`,
    `--node-ip=${place.nodeIp}`,
    `--hostname-override=${NODE_NAME}`,
    '--node-labels=type=real',
  ];
  writeJson(at('node.json'), {
    link: place.link,
    hostIP: place.hostIp,
    nodeIP: place.nodeIp,
    apiServer: `127.0.0.1:${port}`,
    cgroup: place.cgroup,
    logDir: join(dir, 'logs'),
    path: programs.folder,
    servers: [
      {
        name: 'containerd',
        command: [program('containerd'), '--config', at('containerd.toml')],
        until: place.socket,
      },
      { name: 'dns', command: [program('dns'), '-conf', at('Corefile')] },
      { name: 'kube-proxy', command: [kubeNode, 'kube-proxy', `--config=${at('kube-proxy.json')}`] },
      {
        name: 'kubelet',
        command: [kubeNode, 'kubelet', ...kubelet],
      },
    ],
  });
  return { name: 'node', command: kubeNode, args: ['run', at('node.json')], port: API_PORT };
}

function writeJson(file: string, content: unknown): void {
  writeFileSync(file, JSON.stringify(content, null, 2));
}

function containerdConfig({ folder, socket }: Place, { cniFolder }: NodePrograms): string {
  const runtime = "plugins.'io.containerd.cri.v1.runtime'";
  return `version = 3
root = '${folder}/containerd/root'
state = '/run/reroll-containerd'
[grpc]
address = '${socket}'
[${runtime}]
# A process without CAP_SYS_RESOURCE cannot lower the score, and runc then ends.
restrict_oom_score_adj = true
[${runtime}.cni]
bin_dirs = ['${cniFolder}']
conf_dir = '${folder}/cni'
[${runtime}.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[${runtime}.containerd.runtimes.runc.options]
SystemdCgroup = false
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '${PAUSE}'
`;
}

/** Nothing leaves the machine. Every pod has a link of its own, so whatever it sends passes the rules of kube-proxy. */
function cniConfig({ folder }: Place): unknown {
  const ipam = { type: 'host-local', dataDir: join(folder, 'addresses'), subnet: '10.88.0.0/16' };
  return {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [{ type: 'ptp', ipMasq: false, ipam: { ...ipam, routes: [{ dst: '0.0.0.0/0' }] } }],
  };
}

const EVICTION_SIGNALS = [
  'imagefs.available',
  'imagefs.inodesFree',
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
];

function kubeletConfig({ folder, socket, podLogs, cgroup }: Place, tainted: boolean): unknown {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Only this machine reaches it.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    // A full disk of this machine is none of its business.
    evictionHard: Object.fromEntries(EVICTION_SIGNALS.map((signal) => [signal, '0%'])),
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    localStorageCapacityIsolation: false,
    resolvConf: '',
    clusterDNS: [DNS_IP],
    clusterDomain: 'cluster.local',
    podLogsDir: podLogs,
    volumePluginDir: join(folder, 'volume-plugins'),
    syncFrequency: '10s',
    maxPods: 500,
    // The processor of a test machine is shared by more pods than requests allow for.
    crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
    registerWithTaints: tainted ? [{ key: 'type', value: 'real', effect: 'NoSchedule' }] : [],
  };
}

function proxyConfig({ folder }: Place): unknown {
  const conntrack = { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' };
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: join(folder, 'kubeconfig') },
    mode: 'nftables',
    hostnameOverride: NODE_NAME,
    conntrack,
    nftables: { minSyncPeriod: '100ms' },
  };
}

function corefile({ folder, nodeIp }: Place): string {
  return `.:53 {
  bind ${nodeIp}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${folder}/kubeconfig
    ttl 1
  }
}
`;
}
