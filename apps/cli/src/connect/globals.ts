import type { KubeFlags } from './kubeconfig.ts';

export interface Globals extends KubeFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly requestTimeout: string;
  readonly server?: string;
  readonly certificateAuthority?: string;
  readonly adminNamespace?: string;
  readonly adminService?: string;
  readonly via: Via;
  readonly serviceAccount?: string;
  readonly audience?: string;
  readonly sendKubeconfigToken?: boolean;
  readonly allowHttp?: boolean;
}

export const VIAS = ['auto', 'proxy', 'port-forward'] as const;
type Via = (typeof VIAS)[number];
