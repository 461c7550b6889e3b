import type { Container, ObjectMeta, PodSpec } from '../model.ts';

/** The parts of a Pod that tell which data its containers have. The API server validates them. */
export interface UsingPod {
  readonly metadata: ObjectMeta & { readonly deletionTimestamp?: string | undefined };
  readonly spec: PodSpec & {
    readonly ephemeralContainers?: readonly Container[] | undefined;
    readonly imagePullSecrets?: readonly { readonly name?: string | undefined }[] | undefined;
  };
  readonly status?:
    | {
        readonly phase?: string | undefined;
        readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined;
        readonly containerStatuses?: readonly ContainerStatus[] | undefined;
        readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
        readonly ephemeralContainerStatuses?: readonly ContainerStatus[] | undefined;
      }
    | undefined;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean | undefined;
  readonly state?:
    | {
        readonly running?: { readonly startedAt?: string | undefined } | undefined;
        readonly terminated?:
          | { readonly startedAt?: string | undefined; readonly exitCode?: number | undefined }
          | undefined;
      }
    | undefined;
}

/** Whether an entry of managedFields may be of a write of the status. */
export function isOfStatus({ fieldsV1 }: NonNullable<ObjectMeta['managedFields']>[number]): boolean {
  return fieldsV1 === undefined || 'f:status' in fieldsV1;
}
