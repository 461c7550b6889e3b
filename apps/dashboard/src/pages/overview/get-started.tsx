import type { JSX } from 'preact';
import { Panel } from '../../components/panel.tsx';
import { hrefOf, route } from '../../router.ts';

/** What to do first, while no workload asks for reloads. */
export function GetStarted(): JSX.Element {
  const namespace = route.value.namespace || 'NAMESPACE';
  return (
    <Panel title="Get started">
      <ol class="get-started">
        <li>
          Annotate a workload that uses a ConfigMap or Secret:
          <code>{`kubectl annotate deployment NAME -n ${namespace} reloader.stakater.com/auto=true`}</code>
        </li>
        <li>Change that ConfigMap or Secret. The change, the reload and the rollout appear on this page.</li>
      </ol>
      <p>
        To see beforehand what an annotation would do, use{' '}
        <a href={hrefOf('preview', [], { of: 'workload' })}>Preview</a>.
      </p>
    </Panel>
  );
}
