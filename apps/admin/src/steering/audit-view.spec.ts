import type { AuditEntry } from '@reroll/core/history/entries';
import { expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import { seesAudit } from './audit-view.ts';

const VISIBLE = { all: false, sees: (namespace: string) => Promise.resolve(namespace === 'shop') };

it.each([
  ['Deployment/shop/web', true],
  ['reloads:17 Deployment/shop/web', true],
  ['0123456789 Deployment/shop/web', true],
  ['Namespace/shop', true],
  ['Namespace/other', false],
  ['Deployment/other/web', false],
  ['Deployment/other/shop', false],
  ['reloads', false],
  ['/api/v1/namespaces/shop', false],
])('who sees the namespace shop sees %s: %s', async (target, expected) => {
  const entry = { target, actor: 'somebody else' } as AuditEntry;
  expect(await seesAudit(anonymousReader(), VISIBLE, entry)).toBe(expected);
});
