import { describe, expect, it } from 'vitest';
import { readPayload } from './jobs.ts';
import { alertJobOf, alertsJobOf, notificationJob, webhookJobOf } from './notification-jobs.ts';

const SOURCE = 'ConfigMap/shop/settings';
const WORKLOAD = 'Deployment/shop/web';

describe('the payload of a notification', () => {
  it.each([alertJobOf(SOURCE, WORKLOAD), alertsJobOf(SOURCE), webhookJobOf(SOURCE, 'delete')])(
    'that was made here is read back: %j',
    (job) => {
      expect(readPayload(notificationJob, JSON.parse(JSON.stringify(job)))).toEqual({
        state: 'read',
        payload: job,
      });
    },
  );

  it('of a later version is for a process that knows it', () => {
    const data = { v: 2, type: 'digest', sources: [SOURCE] };
    expect(readPayload(notificationJob, data)).toEqual({ state: 'unknownVersion', version: 2 });
  });

  it.each<[string, unknown]>([
    ['of an unknown type', { v: 1, type: 'mail', source: SOURCE }],
    ['without its workload', { v: 1, type: 'alert', source: SOURCE }],
    ['with an unknown event', { v: 1, type: 'webhook', source: SOURCE, event: 'hunter2' }],
    ['with a key that is none', { v: 1, type: 'alerts', source: 'hunter2' }],
    ['with a URL', { v: 1, type: 'alerts', source: SOURCE, url: 'https://hunter2' }],
  ])('%s is invalid, and its values are not told', (_, data) => {
    const reading = readPayload(notificationJob, data);
    expect(reading.state).toBe('invalid');
    expect(JSON.stringify(reading)).not.toContain('hunter2');
  });
});
