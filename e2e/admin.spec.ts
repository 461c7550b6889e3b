import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS, type Operation, type OperationId } from '../libs/shared/src/api/operations.ts';
import { AdminApi, TOKENS } from './support/admin-api.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace } from './support/kube.ts';
import { startReroll } from './support/reroll.ts';

let api: AdminApi;

beforeAll(async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await startReroll({ cluster, namespaces: [space], watchers: 0, workers: 0, admins: 1 });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
});

describe('the OpenAPI document', () => {
  it('is of 3.1, needs no token, and has every operation of the table', async () => {
    const answer = await api.fetch('/api/openapi.json');
    expect(answer.headers.get('content-type')).toContain('application/json');
    const document = (await answer.json()) as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    expect(document.openapi).toMatch(/^3\.1\./);
    const found = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
    );
    const expected = (Object.entries(OPERATIONS) as [OperationId, Operation][]).map(
      ([id, { method, path }]) => `${id} ${method} ${path}`,
    );
    expect(found.sort()).toEqual(expected.sort());
  });
});

describe('a request', () => {
  it('with a token is answered', async () => {
    const { items } = await api.as(TOKENS.reader).call('listQueues');
    expect(items.map(({ name }) => name)).toEqual(['changes', 'reloads', 'resumes', 'notifications']);
  });

  it('without one, or with one that nobody knows, is not', async () => {
    expect(await api.problem('listQueues', { token: null })).toMatchObject({ code: 'Unauthenticated' });
    expect(await api.problem('listQueues', { token: 'guessed' })).toMatchObject({ code: 'Unauthenticated' });
  });

  it('may carry its token in Reroll-Authorization', async () => {
    const headers = { 'reroll-authorization': `Bearer ${TOKENS.reader}` };
    expect((await api.call('listQueues', { token: null, headers })).items).toHaveLength(4);
  });

  it('with another query than documented is told what was expected', async () => {
    const answer = await api.fetch('/api/v1/queues?x=1', {
      headers: { authorization: `Bearer ${TOKENS.reader}` },
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'InvalidRequest',
      errors: [{ path: 'query', expected: 'no parameters' }],
    });
  });

  it('of another method is refused with those that there are, and of no path is not found', async () => {
    const headers = { authorization: `Bearer ${TOKENS.reader}` };
    const wrong = await api.fetch('/api/v1/queues', { method: 'DELETE', headers });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
    expect(await wrong.json()).toMatchObject({ code: 'MethodNotAllowed' });
    const nowhere = await api.fetch('/api/v1/nowhere', { headers });
    expect(await nowhere.json()).toMatchObject({ code: 'NotFound', status: 404 });
  });
});
