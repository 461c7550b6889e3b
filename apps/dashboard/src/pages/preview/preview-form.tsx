import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { PreviewRequest } from '@reroll/shared/api/explain';
import { Combobox } from '../../components/combobox.tsx';
import { EXAMPLES } from '../../components/suggest-query.ts';
import { route } from '../../router.ts';
import { requestOf, type Asked } from './preview-request.ts';

const AUTO = 'reloader.stakater.com/auto: "true"';

const OWN = {
  source: {
    label: 'With these annotations instead of its own (optional)',
    example: 'reloader.stakater.com/match: "true"',
  },
  workload: { label: 'With these annotations instead of its own' },
} as const;

/** Asks what would roll: for a change of a source, for other annotations of it, or of a workload. */
export function PreviewForm(props: {
  ask: (request: PreviewRequest) => Promise<void>;
  /** Another question is being written. */
  clear: () => void;
}): JSX.Element {
  const { ask, clear } = props;
  const { query } = route.value;
  const [asked, setAsked] = useState<Asked>({
    of: query['of'] === 'workload' ? 'workload' : 'source',
    key: query['workload'] ?? query['source'] ?? '',
    annotations: '',
    podAnnotations: '',
  });
  const [complaint, setComplaint] = useState('');
  const set = (part: Partial<Asked>): void => {
    clear();
    setAsked((before) => ({ ...before, ...part }));
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const request = requestOf(asked);
    setComplaint(typeof request === 'string' ? request : '');
    if (typeof request !== 'string') await ask(request);
  };
  return (
    <form class="preview-form panel" aria-label="Preview" onSubmit={(event) => void submit(event)}>
      <Choice of={asked.of} choose={(of) => set({ of, key: '' })} />
      <KeyField asked={asked} set={set} />
      <AnnotationField
        {...OWN[asked.of]}
        value={asked.annotations}
        set={(annotations) => set({ annotations })}
      />
      {asked.of === 'workload' ? (
        <AnnotationField
          label="And these on the pod template (optional)"
          value={asked.podAnnotations}
          set={(podAnnotations) => set({ podAnnotations })}
        />
      ) : null}
      {complaint === '' ? null : (
        <p class="trouble" role="alert">
          {complaint}
        </p>
      )}
      <button type="submit" class="primary">
        Preview
      </button>
    </form>
  );
}

function Choice({ of, choose }: { of: Asked['of']; choose: (of: Asked['of']) => void }): JSX.Element {
  return (
    <fieldset>
      <legend>What if</legend>
      <label>
        <input type="radio" name="of" checked={of === 'source'} onChange={() => choose('source')} /> a source
        changes
      </label>
      <label>
        <input type="radio" name="of" checked={of === 'workload'} onChange={() => choose('workload')} /> a
        workload had other annotations
      </label>
    </fieldset>
  );
}

function KeyField({ asked, set }: { asked: Asked; set: (part: Partial<Asked>) => void }): JSX.Element {
  const id = useId();
  const isSource = asked.of === 'source';
  return (
    <div class="field">
      <label for={id}>{isSource ? 'Source' : 'Workload'}</label>
      {/* Another field for the other kind: it begins empty. */}
      <Combobox
        key={asked.of}
        id={id}
        of={asked.of}
        placeholder={EXAMPLES[asked.of]}
        value={asked.key}
        onText={(key) => set({ key })}
        required
      />
    </div>
  );
}

interface AnnotationFieldProps {
  readonly label: string;
  readonly example?: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

function AnnotationField(props: AnnotationFieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        rows={3}
        value={props.value}
        onInput={({ currentTarget }) => props.set(currentTarget.value)}
        placeholder={props.example ?? AUTO}
        spellcheck={false}
      />
    </div>
  );
}
