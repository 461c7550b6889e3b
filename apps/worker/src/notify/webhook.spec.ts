import { NotificationsFullError } from '@reroll/redis/queue/notifications';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { expect, it, vi } from 'vitest';
import { Webhook, type WebhookContext } from './webhook.ts';

const SOURCE = 'ConfigMap/shop/settings';

function webhookWhose(refusal: Error) {
  const [put, inc] = [vi.fn(), vi.fn()];
  const webhook = new Webhook({
    notifications: { enqueueWebhook: () => Promise.reject(refusal) },
    notified: { last: async () => null, put },
    catalog: { sources: async () => new Map() },
    deletions: true,
    metrics: { notifications: { inc } } as unknown as WebhookContext['metrics'],
    log: silentLogger,
  });
  return { webhook, put, inc };
}

it('a webhook for which there is no room is counted, and its change job ends', async () => {
  const { webhook, put, inc } = webhookWhose(new NotificationsFullError('full'));
  await expect(webhook.changed(SOURCE, 'SourceAbsent')).resolves.toBeUndefined();
  expect(inc.mock.calls).toEqual([[{ type: 'webhook', result: 'lost' }]]);
  expect(put).not.toHaveBeenCalled();
});

it('a change job whose webhook Redis does not take is repeated', async () => {
  const { webhook, put, inc } = webhookWhose(new Error('OOM'));
  await expect(webhook.changed(SOURCE, 'SourceAbsent')).rejects.toThrow('OOM');
  expect([put, inc].map(({ mock }) => mock.calls)).toEqual([[], []]);
});
