import { HistoryJoin } from '@reroll/core/history/join';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { changed, reloaded } from '@reroll/core/testing/history';
import { sourceRow } from '@reroll/core/testing/rows';
import type { Request } from 'express';
import { expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { Consumers } from '../consumers/consumers.ts';
import type { LiveStates } from '../history/live-states.ts';
import type { ReadModel } from '../history/read-model.ts';
import type { Cursors } from '../http/cursors.ts';
import type { Input } from '../http/operation-types.ts';
import { begin } from '../http/request-context.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { WavePlans } from '../objects/wave-plans.ts';
import type { ShownHashes } from '../shown-hashes.ts';
import { LongAnswers } from '../why/long-answers.ts';
import { SourcesController } from './sources.controller.ts';

const DB: SourceKey = 'ConfigMap/shop/cm';
const MANY = Array.from({ length: 60 }, (_, n): WorkloadKey => `Deployment/shop/w${n}`);

function controllerWith(join: HistoryJoin): SourcesController {
  const facts = {
    settings: async () => EXPLAIN_SETTINGS,
    sourceFacts: async () => [{ key: DB, row: sourceRow(5, 'a'), users: new Map() }],
  } as unknown as ObjectFacts;
  return new SourcesController(
    {} as Cursors,
    { contents: { join } } as unknown as ReadModel,
    facts,
    { look: async () => undefined } as unknown as LiveStates,
    { shown: () => 'shown' } as unknown as ShownHashes,
    {} as Consumers,
    {} as WavePlans,
    new LongAnswers(60_000),
  );
}

function getDb(): Input<'getSource'> {
  const caller = { ...anonymousReader(), seesAll: async () => true };
  const request = {} as Request;
  begin(request, { id: '1', startedAt: 0, address: '10.0.0.1', caller });
  const params = { kind: 'ConfigMap', namespace: 'shop', name: 'cm' } as const;
  return {
    params,
    query: {},
    caller,
    request,
    gone: new AbortController().signal,
  } as unknown as Input<'getSource'>;
}

it('the history of a source has the latest results, however many workloads have none yet', async () => {
  const join = new HistoryJoin();
  const woken = MANY.map((workload) => ({ workload, reason: 'AutoReload', detail: '' }) as const);
  join.addChange('1000-0', changed(1000));
  join.addOutcome('1010-0', reloaded(1000));
  join.addChange('2000-0', changed(2000, { woken }));
  const { history } = await controllerWith(join).get(getDb());
  expect(history.map(({ change, state }) => [change, state])).toEqual([['1000-0', 'reloaded']]);
});
