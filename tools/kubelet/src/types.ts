/** Pods as the API serves them, as far as this kubelet reads them. */
export interface Pod {
  readonly metadata: Metadata;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly hostNetwork?: boolean;
  readonly serviceAccountName?: string;
  readonly enableServiceLinks?: boolean;
  /** Default `Always`. */
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  /** Default 30. */
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: PodSecurityContext;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

interface RunAs {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
}

export interface PodSecurityContext extends RunAs {
  readonly fsGroup?: number;
  readonly supplementalGroups?: readonly number[];
}

export interface SecurityContext extends RunAs {
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly privileged?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly resources?: Resources;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly securityContext?: SecurityContext;
  readonly lifecycle?: { readonly postStart?: Hook; readonly preStop?: Hook };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  /** Of an init container: `Always` makes it a sidecar, which this kubelet does not run. */
  readonly restartPolicy?: string;
}

export interface Resources {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
}

interface KeyRef {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

interface ObjectName {
  readonly name?: string;
  readonly optional?: boolean;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: KeyRef;
    readonly configMapKeyRef?: KeyRef;
    readonly fieldRef?: { readonly fieldPath: string };
    readonly resourceFieldRef?: ResourceFieldRef;
  };
}

export interface ResourceFieldRef {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

export interface EnvFrom {
  readonly prefix?: string;
  readonly configMapRef?: ObjectName;
  readonly secretRef?: ObjectName;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

export interface Item {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface KeyedSource {
  readonly name?: string;
  readonly secretName?: string;
  readonly items?: readonly Item[];
  readonly optional?: boolean;
  readonly defaultMode?: number;
}

interface DownwardSource {
  readonly items?: readonly {
    readonly path: string;
    readonly fieldRef?: { readonly fieldPath: string };
    readonly resourceFieldRef?: ResourceFieldRef;
  }[];
  readonly defaultMode?: number;
}

export interface TokenSource {
  readonly path: string;
  readonly audience?: string;
  readonly expirationSeconds?: number;
}

export interface ProjectedPart {
  readonly configMap?: KeyedSource;
  readonly secret?: KeyedSource;
  readonly downwardAPI?: DownwardSource;
  readonly serviceAccountToken?: TokenSource;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly configMap?: KeyedSource;
  readonly secret?: KeyedSource;
  readonly downwardAPI?: DownwardSource;
  readonly projected?: { readonly sources?: readonly ProjectedPart[]; readonly defaultMode?: number };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
}

export interface HttpGet {
  readonly path?: string;
  readonly port: number | string;
  readonly host?: string;
  readonly scheme?: string;
  readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
}

export interface Hook {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: HttpGet;
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly sleep?: { readonly seconds: number };
}

export interface Probe extends Hook {
  readonly grpc?: object;
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

export interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly containerID: string;
}

export interface ContainerState {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: Terminated;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly restartCount: number;
  readonly ready: boolean;
  readonly started: boolean;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
}

export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

/** A Service as far as the hosts file, the proxy and the variables need it. */
export interface Service {
  readonly metadata: Metadata;
  readonly spec: {
    readonly clusterIP?: string;
    readonly type?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
  };
}

export interface EndpointSlice {
  readonly metadata: Metadata;
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        readonly hostname?: string;
        readonly conditions?: { readonly ready?: boolean };
      }[]
    | null;
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null;
}
