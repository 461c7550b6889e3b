import { describe, expect, it } from 'vitest';
import { apiServer, items, kubeError } from '../testing/stub-cluster.ts';

const WEB = '/apis/apps/v1/namespaces/shop/deployments/web';
const EVENTS = '/api/v1/namespaces/shop/events';

/** An API server that takes the patch of this path. */
async function cluster(path: string, env: Readonly<Record<string, string>> = {}) {
  const { run, requests } = await apiServer({ [`PATCH ${path}`]: { body: {} } }, undefined, env);
  return {
    run,
    /** The annotations that were written. */
    written: (): unknown => {
      const patches = requests.filter(({ method }) => method === 'PATCH');
      return patches.map(
        ({ body }) => (JSON.parse(body) as { metadata: { annotations: object } }).metadata.annotations,
      );
    },
    types: (): unknown => requests.map(({ headers }) => headers['content-type']),
  };
}

it.each([
  [['freeze', 'deploy/web', '--reason', 'r'], 'deployment/web in the namespace shop'],
  [['unfreeze', 'deploy', 'web'], 'deployment/web in the namespace shop'],
  [['freeze', '--reason', 'r'], 'namespace/shop'],
  [['unfreeze', '--all'], 'namespace/reroll'],
  [['approve', 'deploy/web', 'aaaaaaaaaa'], 'deployment/web in the namespace shop'],
  [['resume', 'secret/db', '--reason', 'r'], 'secret/db in the namespace shop'],
])('an object that does not exist is named: %j', async (words, object) => {
  const { run } = await apiServer({});
  expect(await run(...words)).toEqual({ code: 1, out: '', err: `error: there is no ${object}\n` });
});

describe('resume', () => {
  const SECRET = '/api/v1/namespaces/shop/secrets/db';
  const secret = { body: { metadata: { name: 'db', namespace: 'shop', resourceVersion: '41' } } };

  it('lets the change of the current data of a source go on', async () => {
    const { run, requests } = await apiServer({
      [`GET ${SECRET}`]: secret,
      [`PATCH ${SECRET}`]: { body: {} },
    });
    const said = await run('resume', 'secret/db', '--reason', 'it was broken before');
    expect(said).toEqual({
      code: 0,
      err: '',
      out: 'secret/db: failed rollouts no longer halt the change to its current data\n',
    });
    const [read, written] = requests.slice(-2);
    // Only its metadata.
    expect(read?.headers.accept).toContain('PartialObjectMetadata');
    expect(JSON.parse(written?.body ?? '')).toEqual({
      metadata: {
        resourceVersion: '41',
        annotations: { 'reroll.dev/resumed': '41; it was broken before' },
      },
    });
  });

  it.each(['json', 'yaml'])(
    'writes nothing with -o %s, of which there is nothing to print',
    async (output) => {
      const { run, requests } = await apiServer({
        [`GET ${SECRET}`]: secret,
        [`PATCH ${SECRET}`]: { body: {} },
      });
      const said = await run('resume', 'secret/db', '--reason', 'x', '-o', output);
      expect(said).toEqual({
        code: 2,
        out: '',
        err: 'error: expected --output only with a queue, given a source\n',
      });
      expect(requests).toEqual([]);
    },
  );

  it('resumes nothing if somebody else has written the source meanwhile', async () => {
    const conflict = kubeError(409, 'Conflict');
    const { run, requests } = await apiServer({ [`GET ${SECRET}`]: secret, [`PATCH ${SECRET}`]: conflict });
    const said = await run('resume', 'secret/db', '--reason', 'x');
    expect(said.code).toBe(1);
    expect(said.err).toContain('secret/db was written by somebody else meanwhile; nothing is resumed');
    expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
  });
});

describe('freeze', () => {
  it.each([
    [
      ['deploy/web', '--until', '2026-12-31T00:00:00Z'],
      WEB,
      'freeze',
      'deployment.apps/web',
      '2026-12-31T00:00:00.000Z',
    ],
    [['deploy', 'web', '--until', '2h'], WEB, 'freeze', 'deployment.apps/web', '2026-11-21T17:00:00.000Z'],
    [[], '/api/v1/namespaces/shop', 'freeze', 'namespace/shop', ''],
    [['-n', 'ops'], '/api/v1/namespaces/ops', 'freeze', 'namespace/ops', ''],
    [['--all'], '/api/v1/namespaces/reroll', 'freeze-all', 'the installation in namespace/reroll', ''],
    [
      ['--all', '--admin-namespace', 'ops'],
      '/api/v1/namespaces/ops',
      'freeze-all',
      'the installation in namespace/ops',
      '',
    ],
  ])('%j', async (words, path, annotation, name, until) => {
    const { run, written, types } = await cluster(path);
    const said = await run('freeze', ...words, '--reason', 'year-end');
    const end = until === '' ? '' : ` until ${until}`;
    expect(said).toEqual({ code: 0, err: '', out: `${name} frozen${end}\n` });
    expect(written()).toEqual([{ [`reroll.dev/${annotation}`]: `${until}; year-end` }]);
    expect(types()).toEqual(['application/merge-patch+json']);
    expect(
      await run(
        'unfreeze',
        ...words.filter((word) => !['--until', '2h', '2026-12-31T00:00:00Z'].includes(word)),
      ),
    ).toMatchObject({
      code: 0,
      out: `${name} no longer frozen\n`,
    });
    expect(written()).toContainEqual({ [`reroll.dev/${annotation}`]: null });
  });

  it.each([
    [[], 'ops'],
    [['--admin-namespace', 'other'], 'other'],
  ])('--all with a namespace of the environment and %j is in the namespace %s', async (flags, namespace) => {
    const { run, written } = await cluster(`/api/v1/namespaces/${namespace}`, {
      REROLL_ADMIN_NAMESPACE: 'ops',
    });
    const frozen = await run('freeze', '--all', ...flags, '--reason', 'x');
    const unfrozen = await run('unfreeze', '--all', ...flags);
    expect([frozen.out, unfrozen.out]).toEqual([
      `the installation in namespace/${namespace} frozen\n`,
      `the installation in namespace/${namespace} no longer frozen\n`,
    ]);
    expect(written()).toEqual([{ 'reroll.dev/freeze-all': '; x' }, { 'reroll.dev/freeze-all': null }]);
  });

  it.each([
    [['--reason', 'x', '--until', 'soon'], 'expected --until to be a time'],
    [['--reason', 'x', '--until', '2020-01-01T00:00:00Z'], 'expected a time in the future for --until'],
    [['--reason', 'x'.repeat(151)], 'at most 150 characters, given 151'],
    [['deploy/web', '--all', '--reason', 'x'], 'expected a workload or --all, given both'],
    [['pod/web', '--reason', 'x'], 'expected a workload'],
    [['-A', '--reason', 'x'], 'expected --all for the whole installation, given --all-namespaces'],
    [['deploy/web', '-A', '--reason', 'x'], 'expected --all for the whole installation, given --all-nam'],
    [['--all', '-n', 'shop', '--reason', 'x'], 'expected --namespace or --all, given both'],
    [[], "required option '--reason <text>' not specified"],
  ])('writes nothing if it is called wrongly: %j', async (words, expected) => {
    const { run, written } = await cluster(WEB);
    const { code, err } = await run('freeze', ...words);
    expect([code, written()]).toEqual([2, []]);
    expect(err).toContain(expected);
  });

  it.each([[['-A']], [['--all', '-n', 'shop']]])(
    'ends no freeze if it is called wrongly: %j',
    async (words) => {
      const { run, written } = await cluster(WEB);
      expect([(await run('unfreeze', ...words)).code, written()]).toEqual([2, []]);
    },
  );

  it('says that the caller may not', async () => {
    const { run } = await apiServer({ [`PATCH ${WEB}`]: kubeError(403, 'Forbidden') });
    const { code, err } = await run('freeze', 'deploy/web', '--reason', 'x');
    expect(code).toBe(1);
    expect(err).toContain('you may not do this in the cluster');
  });
});

describe('approve', () => {
  const told = (id: string, at: string): unknown => ({
    message: `The pending reload has the id ${id}. It waits for …`,
    metadata: { creationTimestamp: at },
  });

  it('takes the id that is given', async () => {
    const { run, written } = await cluster(WEB);
    expect(await run('approve', 'deploy/web', '0123456789')).toEqual({
      code: 0,
      err: '',
      out: 'deployment.apps/web approved (0123456789)\n',
    });
    expect(written()).toEqual([{ 'reroll.dev/approved': '0123456789' }]);
  });

  it('takes the id of the latest Event otherwise', async () => {
    const events = items(
      told('bbbbbbbbbb', '2026-11-21T14:00:00Z'),
      told('aaaaaaaaaa', '2026-11-21T13:00:00Z'),
    );
    const { run, requests } = await apiServer({ [`PATCH ${WEB}`]: { body: {} }, [`GET ${EVENTS}`]: events });
    expect((await run('approve', 'deploy/web')).out).toBe('deployment.apps/web approved (bbbbbbbbbb)\n');
    expect(requests[0]?.query.get('fieldSelector')).toBe(
      'involvedObject.kind=Deployment,involvedObject.name=web,reason=AwaitsApproval',
    );
  });

  it('writes nothing if no Event tells an id, or for what is no id', async () => {
    const { run, requests } = await apiServer({ [`GET ${EVENTS}`]: items() });
    expect(await run('approve', 'deploy/web')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no Event says that Deployment shop/web waits for an approval'),
    });
    expect(await run('approve', 'deploy/web', 'ABC')).toMatchObject({
      code: 2,
      err: expect.stringContaining('expected an id of ten hexadecimal digits, given "ABC"'),
    });
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });
});
