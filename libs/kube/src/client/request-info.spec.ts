import { expect, test } from 'vitest';
import { requestInfo } from './request-info.ts';

test.each([
  ['GET', '/api/v1/configmaps', 'list', 'configmaps'],
  ['GET', '/api/v1/namespaces/shop/configmaps', 'list', 'configmaps'],
  ['GET', '/api/v1/namespaces/shop/configmaps/web', 'get', 'configmaps'],
  ['GET', '/api/v1/namespaces', 'list', 'namespaces'],
  ['GET', '/api/v1/namespaces/kube-system', 'get', 'namespaces'],
  ['PATCH', '/apis/apps/v1/namespaces/shop/deployments/web', 'patch', 'deployments'],
  ['PUT', '/apis/apps/v1/namespaces/shop/deployments/web/status', 'update', 'deployments/status'],
  ['POST', '/api/v1/namespaces/shop/events', 'create', 'events'],
  ['DELETE', '/apis/batch/v1/namespaces/shop/jobs/once', 'delete', 'jobs'],
  ['GET', '/version', 'get', 'version'],
  ['GET', '/apis/apps/v1', 'get', 'apis'],
])('%s %s is %s of %s', (method, path, verb, resource) => {
  expect(requestInfo(method, path)).toEqual({ verb, resource });
});
