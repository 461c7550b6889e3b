import { useEffect, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { keyOf, type Ref } from '../names.ts';
import { route } from '../router.ts';
import { suggestQuery, type Suggested } from './suggest-query.ts';

/** Milliseconds for which the reader has stopped typing before the API is asked. */
const PAUSE = 200;
/** Of each list. */
const MOST = '20';

/** What a field suggests: `object` means workloads and sources. */
export type SuggestedBy = Suggested | 'object' | 'namespace';

export interface Suggestions {
  /** What they are for. */
  readonly text: string | undefined;
  readonly keys: readonly string[];
}

/** Keys, or names of namespaces: these also for an empty text. `text`: undefined while nobody types, and the API is not asked. */
export function useSuggestions(of: SuggestedBy, text: string | undefined): Suggestions {
  const [found, setFound] = useState<Suggestions>({ text: undefined, keys: [] });
  useEffect(() => {
    if (text === undefined || (text === '' && of !== 'namespace')) return undefined;
    const controller = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        setFound({ text, keys: await suggestionsFor(of, text, controller.signal) });
      } catch {
        // A suggestion is a help, no more: the request itself tells what is wrong.
      }
    };
    const timer = setTimeout(() => void ask(), text === '' ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [of, text]);
  return found;
}

async function suggestionsFor(of: SuggestedBy, text: string, signal: AbortSignal): Promise<string[]> {
  if (of === 'namespace') {
    const name = text.trim().toLowerCase().slice(0, 63);
    const { items } = await call('listNamespaces', { query: { name, limit: MOST } }, signal);
    return items.map((item) => item.name);
  }
  const kinds: readonly Suggested[] = of === 'object' ? ['workload', 'source'] : [of];
  const lists = kinds.map(async (kind) => {
    const query = { namespace: route.peek().namespace, ...suggestQuery(kind, text), limit: MOST };
    const { items } = await call(kind === 'source' ? 'listSources' : 'listWorkloads', { query }, signal);
    return items.map((item: Ref) => keyOf(item));
  });
  return (await Promise.all(lists)).flat();
}
