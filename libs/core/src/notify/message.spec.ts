import { describe, expect, it } from 'vitest';
import { alertMessage, webhookMessage, type AlertSink } from './message.ts';

describe('an alert', () => {
  it.each<[AlertSink, string, string]>([
    [
      'slack',
      'application/json',
      '{"attachments":[{"author_name":"Reloader","color":"good","text":"*a* \\"b\\""}]}',
    ],
    ['teams', 'application/json', '{"text":"*a* \\"b\\""}'],
    ['gchat', 'application/json', '{"text":"*a* \\"b\\""}'],
    ['raw', 'text/plain', 'a "b"'],
  ])('to %s is %s with the body of stakater/Reloader', (sink, contentType, body) => {
    expect(alertMessage(sink, '*a* "b"')).toMatchObject({ contentType, body });
  });

  it('has its text escaped as Go does it', () => {
    expect(alertMessage('teams', '<!here> & \u2028').body).toBe(
      String.raw`{"text":"\u003c!here\u003e \u0026 \u2028"}`,
    );
  });

  it.each<[AlertSink, readonly number[], readonly number[]]>([
    ['slack', [200, 202, 204], [302, 400, 404, 500]],
    ['raw', [200, 202, 204], [302, 400, 404, 500]],
    ['teams', [200], [202, 204, 302, 400, 500]],
    ['gchat', [200], [202, 204, 302, 400, 500]],
  ])('to %s counts as received with status %j and not with %j', (sink, received, refused) => {
    const message = alertMessage(sink, 'text');
    expect(received.filter((status) => !message.isReceived(status))).toEqual([]);
    expect(refused.filter((status) => message.isReceived(status))).toEqual([]);
  });
});

describe('the body of the webhook', () => {
  const change = { source: { kind: 'Secret', namespace: 'shop', name: 'keys' }, event: 'update' } as const;

  it('says what changed, by name', () => {
    expect(webhookMessage('change', change).body).toBe(
      '{"event":"update","kind":"Secret","namespace":"shop","name":"keys"}',
    );
  });

  it('is that of stakater/Reloader if asked for', () => {
    expect(webhookMessage('legacy', change).body).toBe('{"webhook":"update successful"}');
  });

  it('counts as received with a success only', () => {
    const statuses = [200, 201, 204, 301, 400, 500];
    const { isReceived } = webhookMessage('change', change);
    expect(statuses.filter((status) => isReceived(status))).toEqual([200, 201, 204]);
  });
});
