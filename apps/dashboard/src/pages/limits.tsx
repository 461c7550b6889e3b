import type { JSX } from 'preact';
import { useSignal, type Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Limits as LimitsData } from '@reroll/shared/api/queues';
import { call } from '../api/client.ts';
import { Action } from '../components/action.tsx';
import { Answer } from '../components/answer.tsx';
import { FreezeAllAction } from '../components/hold-actions.tsx';
import { Facts, Panel } from '../components/panel.tsx';
import { maySteer } from '../state/status.ts';
import { useAnswer } from '../use-answer.ts';

/** Limits set at run time, and the form to set them for who may. */
export function Limits(): JSX.Element {
  const limits = useAnswer('getLimits', {}, 'pulse');
  return (
    <Panel title="Limits" aside={<FreezeAllAction />}>
      <Answer of={limits} what="limits">
        {(data) => (
          <>
            <Facts
              facts={[
                ['Concurrent jobs per worker', data.concurrency ?? 'As set by the flag'],
                ['Reloads per minute', reloadsWord(data.reloadsPerMinute)],
              ]}
            />
            {maySteer() ? (
              <SetLimits key={JSON.stringify(data)} limits={data} onDone={limits.refresh} />
            ) : null}
          </>
        )}
      </Answer>
    </Panel>
  );
}

function SetLimits({ limits, onDone }: { limits: LimitsData; onDone: () => void }): JSX.Element {
  // Signals, which the dialog can change when this is no longer shown.
  const concurrency = useSignal(textOf(limits.concurrency));
  const reloads = useSignal(textOf(limits.reloadsPerMinute));
  // Somebody may set the other one while the form is open.
  const changed = (): Partial<LimitsData> => {
    const wanted = {
      concurrency: numberOf(concurrency.value),
      reloadsPerMinute: numberOf(reloads.value),
    };
    return Object.fromEntries(
      NAMES.filter((name) => wanted[name] !== limits[name]).map((name) => [name, wanted[name]]),
    );
  };
  return (
    <Action
      label="Set limits"
      title="Set limits for every worker"
      done="The limits are set"
      sends={() => JSON.stringify(changed())}
      isUnchanged={() => Object.keys(changed()).length === 0}
      run={async ({ reason, idempotencyKey }) => {
        await call('setLimits', { body: { ...changed(), reason }, idempotencyKey });
        onDone();
      }}
    >
      <p>They apply without a restart. Empty: the value of the flag. 0 reloads per minute: no limit.</p>
      <NumberField label="Concurrent jobs per worker" bounds={[1, 1_000]} value={concurrency} />
      <NumberField label="Reloads per minute" bounds={[0, 100_000]} value={reloads} />
    </Action>
  );
}

const NAMES = ['concurrency', 'reloadsPerMinute'] as const;

interface NumberFieldProps {
  readonly label: string;
  /** As the API has them. */
  readonly bounds: readonly [number, number];
  readonly value: Signal<string>;
}

function NumberField({ label, bounds: [least, most], value }: NumberFieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        min={least}
        max={most}
        value={value.value}
        onInput={({ currentTarget }) => (value.value = currentTarget.value)}
      />
    </div>
  );
}

function reloadsWord(reloads: number | null): number | string {
  return reloads === 0 ? 'No limit' : (reloads ?? 'As set by the flag');
}

function textOf(value: number | null): string {
  return value === null ? '' : `${value}`;
}

function numberOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}
