/** What a patch tests and changes. */
import { inFile } from '../mutant.ts';

const RELOAD = 'libs/core/src/reload';
const SPEC = `${RELOAD}/patch.spec.ts`;
const UNREAD = `${RELOAD}/unread-patch.spec.ts`;

export const patchMutants = [
  ...inFile(`${RELOAD}/patch.ts`, [
    {
      name: 'a patch does not test the uid',
      text: `{ op: 'test', path: '/metadata/uid', value: metadata.uid },`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'are uid, generation and the previous record' },
    },
    {
      name: 'a patch does not test the generation',
      text: `{ op: 'test', path: '/metadata/generation', value: metadata.generation ?? null },`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'are uid, generation and the previous record' },
    },
    {
      name: 'a patch does not test the record',
      text: `{ op: 'test', path, value: metadata.annotations[RECORD_ANNOTATION] ?? null },`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'are uid, generation and the previous record' },
    },
    {
      name: 'a reload writes no record',
      text: `...recordOperations(input),`,
      replacement: ``,
      killedBy: { spec: SPEC, test: 'are uid, generation and the previous record' },
    },
    {
      name: 'a variable that two sources share restarts nothing',
      text: `return operations.length > 0 ? operations : annotationMarker(input, last);`,
      replacement: `return operations;`,
      killedBy: {
        spec: SPEC,
        test: 'marks the template by the annotation where the variable already has the value',
      },
    },
    {
      name: 'a restart sets the time that is there',
      text: `const at = last === now + 1 ? now + 2 : now + 1;`,
      replacement: `const at = now + 1;`,
      killedBy: { spec: SPEC, test: 'sets another second than the one that is there' },
    },
  ]),
  ...inFile(`${RELOAD}/unread-patch.ts`, [
    {
      name: 'a patch without a read does not test what the annotations ask for',
      text: `return [...annotationTests(input), ...patch.flatMap(withTest)];`,
      replacement: `return patch.flatMap(withTest);`,
      killedBy: { spec: UNREAD, test: 'tests uid, generation, record and all annotations that decide' },
    },
    {
      name: 'a patch without a read may write the value that a marker has',
      text: `if (!isKnown) return undefined;`,
      replacement: ``,
      killedBy: { spec: UNREAD, test: 'the marker has its value already' },
    },
    {
      name: 'a patch without a read may replace another variable',
      text: `...patch.flatMap(withTest)];`,
      replacement: `...patch];`,
      killedBy: { spec: UNREAD, test: 'tests that the variable that it replaces is the marker' },
    },
  ]),
  ...inFile(`${RELOAD}/pause.ts`, [
    {
      name: 'a pause that began since the read is ended',
      text: `{ op: 'test', path, value: pausedAt },`,
      replacement: ``,
      killedBy: { spec: `${RELOAD}/pause.spec.ts`, test: 'resume only the pause that was read' },
    },
    {
      name: 'a pause is over at once',
      text: `const due = Date.parse(since) + Math.max(0, period);`,
      replacement: `const due = Date.parse(since) + Math.min(0, period);`,
      killedBy: {
        spec: `${RELOAD}/pause.spec.ts`,
        test: 'is the time of the pause and the period after it',
      },
    },
  ]),
];
