/** Lists and watches. */
import { inFile } from '../mutant.ts';

const REFLECTOR = 'libs/kube/src/reflector';
const WATCH = 'apps/watcher/src/watch';

export const streamMutants = [
  ...inFile(`${REFLECTOR}/reflector.ts`, [
    {
      name: 'a 410 leads to no list',
      text: `return error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone';`,
      replacement: `return false;`,
      killedBy: {
        spec: `${REFLECTOR}/reflector.faults.spec.ts`,
        test: 'a 410 in an error event or as a status leads to a list',
      },
    },
    {
      name: 'a watch is resumed anywhere',
      text: `{ resourceVersion: this.#resourceVersion },`,
      replacement: `{},`,
      killedBy: {
        spec: `${REFLECTOR}/reflector.faults.spec.ts`,
        test: 'is taken up again where the last bookmark left it',
      },
    },
    {
      name: 'a bookmark is not noted',
      text: `this.#resourceVersion = resourceVersion; };`,
      replacement: `if (type !== 'BOOKMARK') this.#resourceVersion = resourceVersion; };`,
      killedBy: {
        spec: `${REFLECTOR}/reflector.faults.spec.ts`,
        test: 'is taken up again where the last bookmark left it',
      },
    },
    {
      name: 'a watch that says nothing is believed for ever',
      text: `if (this.#silences >= MAX_SILENCES) {`,
      replacement: `if (false) {`,
      killedBy: {
        spec: `${REFLECTOR}/reflector.spec.ts`,
        test: 'silence again and again at one resourceVersion is answered with a list',
      },
    },
  ]),
  ...inFile(`${REFLECTOR}/delivery.ts`, [
    {
      name: 'objects that cannot be read count as deleted',
      text: `this.#options.handler.synced(resourceVersion, unread)`,
      replacement: `this.#options.handler.synced(resourceVersion, [])`,
      killedBy: {
        spec: `${REFLECTOR}/reflector.spec.ts`,
        test: 'objects of a list that cannot be read are named, so that they are not taken for deleted',
      },
    },
    {
      name: 'a list counts though nobody could take its end',
      text: `this.#report({ key: '', step }, error); throw error;`,
      replacement: `this.#report({ key: '', step }, error);`,
      killedBy: {
        spec: `${REFLECTOR}/reflector.spec.ts`,
        test: 'in synced is not synced: the list is repeated until it succeeds',
      },
    },
  ]),
  ...inFile(`${REFLECTOR}/list-pages.ts`, [
    {
      name: 'the first page of a list is all of it',
      text: `next = page.metadata?.continue;`,
      replacement: `next = undefined;`,
      killedBy: {
        spec: `${REFLECTOR}/reflector.spec.ts`,
        test: 'a list in pages is taken at one resourceVersion and continued by a watch',
      },
    },
  ]),
  ...inFile(`${WATCH}/listing.ts`, [
    {
      name: 'a catalog that cannot be read counts as empty',
      text: `if (this.#failure) throw this.#failure.error;`,
      replacement: ``,
      killedBy: {
        spec: `${WATCH}/listing.spec.ts`,
        test: 'a catalog that cannot be read fails the list at its end, and only that one',
      },
    },
  ]),
  ...inFile(`${WATCH}/stream-group.ts`, [
    {
      name: 'workloads are listed before their sources are known',
      text: `await this.#list(sources, by.onTurn);`,
      replacement: `void this.#list(sources, by.onTurn);`,
      killedBy: {
        spec: `${WATCH}/stream-group.spec.ts`,
        test: 'workloads are asked for when the sources are known, and others have their turn when all is',
      },
    },
  ]),
  ...inFile(`${WATCH}/older-objects.ts`, [
    {
      name: 'a list that shows an older object proves that etcd was restored',
      text: `if (seenNow === undefined || !isNewer(seenBefore, seenNow) || this.#isRestored) return;`,
      replacement: `if (seenNow === undefined || this.#isRestored) return;`,
      killedBy: { spec: `${WATCH}/older-objects.spec.ts`, test: 'proves nothing if' },
    },
  ]),
  ...inFile(`${WATCH}/unclear-deletions.ts`, [
    {
      name: 'an answer is taken for a later deletion of the same source',
      text: `if (this.#asked.get(key) === deletion) {`,
      replacement: `if (this.#asked.has(key)) {`,
      killedBy: {
        spec: `${WATCH}/source-handler.spec.ts`,
        test: 'and loses a second time, is deleted by the second answer',
      },
    },
  ]),
  ...inFile(`${WATCH}/source-handler.ts`, [
    {
      name: 'the deletion of a source is not told',
      text: `else clusterState.sourceDeleted(key, rv, this.#scope);`,
      replacement: ``,
      killedBy: {
        spec: `${WATCH}/source-handler.spec.ts`,
        test: 'a deletion is told to the cluster state, with its resourceVersion',
      },
    },
    {
      name: 'a list decides about a deletion that waits for its answer',
      text: `if (this.#unclear?.has(key)) hidden.unclear.push(key);`,
      replacement: `if (false) hidden.unclear.push(key);`,
      killedBy: {
        spec: `${WATCH}/source-handler.spec.ts`,
        test: 'is left to its answer by a list that ends before',
      },
    },
  ]),
];
