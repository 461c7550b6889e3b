import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { spoken, type Ref } from '../names.ts';
import { hrefOf } from '../router.ts';
import { mayReload } from '../state/status.ts';
import { tellDeed } from '../state/live.ts';
import { Action } from './action.tsx';

/** Reload now, for who may. Afterwards a link to the change that it became. */
export function ReloadAction({
  of,
  isPrimary = false,
}: {
  of: Ref;
  isPrimary?: boolean;
}): JSX.Element | null {
  const [change, setChange] = useState<string | undefined>(undefined);
  if (!mayReload()) return null;
  return (
    <>
      {change === undefined ? null : (
        <a class="asked" href={hrefOf('changes', [change])}>
          Requested: show progress
        </a>
      )}
      <Action
        label="Reload now"
        title={`Reload ${spoken(of)}`}
        isPrimary={isPrimary}
        done={`A reload of ${spoken(of)} was requested`}
        run={async ({ reason, idempotencyKey }) => {
          const params = { kind: of.kind, namespace: of.namespace, name: of.name };
          const { id } = await call('reloadWorkload', { params, body: { reason }, idempotencyKey });
          setChange(id);
          tellDeed();
        }}
      >
        <p>Its pods are replaced according to its update strategy, if its annotations opt in to reloads.</p>
      </Action>
    </>
  );
}
