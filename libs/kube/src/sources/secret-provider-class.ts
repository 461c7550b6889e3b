import type { KubeResource } from '../objects.ts';

const API = { group: 'secrets-store.csi.x-k8s.io', version: 'v1' };

/** Of the Secrets Store CSI Driver: what to mount. Holds annotations, no versions. */
export const SECRET_PROVIDER_CLASSES: KubeResource = { ...API, plural: 'secretproviderclasses' };

/** What one pod has mounted of one class: ids and versions. */
export const SECRET_PROVIDER_CLASS_POD_STATUSES: KubeResource = {
  ...API,
  plural: 'secretproviderclasspodstatuses',
};
