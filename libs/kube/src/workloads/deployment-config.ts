import { deploymentRollout } from './deployment.ts';
import type { PodTemplate } from '@reroll/core/model';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';

interface DeploymentConfigObject extends KubeObject {
  readonly spec?: { readonly template?: PodTemplate };
}

/** OpenShift's predecessor of the Deployment, with a similar status. Its ConfigChange trigger starts the rollout. */
export const deploymentConfig: WorkloadKindDefinition = {
  kind: 'DeploymentConfig',
  group: 'apps.openshift.io',
  version: 'v1',
  plural: 'deploymentconfigs',
  reloadedBy: 'patch',
  isWanted: ({ isOpenshift }) => isOpenshift !== false,
  podTemplatePath: '/spec/template',
  template: (object: DeploymentConfigObject) => object.spec?.template,
  rolloutStatus: deploymentRollout,
  updateStrategyOnDelete: () => false,
};
