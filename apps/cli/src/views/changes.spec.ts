import { expect, it } from 'vitest';
import { changeSummary, WEB } from '../testing/answers.ts';
import { changeNamespace, sourceText } from './changes.ts';

const MANUAL = changeSummary({ source: null, cause: 'manual', request: { actor: 'ann', reason: 'a test' } });

it.each([
  ['of a source', changeSummary(), ['shop', 'secret/db']],
  ['by hand', { ...MANUAL, workload: WEB }, ['shop', 'deployment/web (requested by ann)']],
  ['by hand, from an older admin', MANUAL, ['', '(requested by ann)']],
])('a change %s says of what', (_name, change, told) => {
  expect([changeNamespace(change), sourceText(change)]).toEqual(told);
});
