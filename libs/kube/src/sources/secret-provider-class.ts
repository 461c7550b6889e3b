import type { KubeResource } from '../objects.ts';

const API = { group: 'secrets-store.csi.x-k8s.io', version: 'v1' };

/** The Secrets Store CSI Driver's definition of what to mount. It has annotations, but no versions. */
export const SECRET_PROVIDER_CLASSES: KubeResource = { ...API, plural: 'secretproviderclasses' };

/** What one pod has mounted of a class: ids and versions. */
export const SECRET_PROVIDER_CLASS_POD_STATUSES: KubeResource = {
  ...API,
  plural: 'secretproviderclasspodstatuses',
};
