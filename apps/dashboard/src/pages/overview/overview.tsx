import type { JSX } from 'preact';
import { PageHead } from '../../components/page-head.tsx';
import { WholeNote } from '../../components/whole-note.tsx';
import { GetStarted } from './get-started.tsx';
import { Activity } from './overview-activity.tsx';
import { Attention } from './overview-attention.tsx';
import { Feed } from './overview-feed.tsx';
import { Processes, QueueDepths, Tiles } from './overview-health.tsx';
import { Verdict } from './overview-verdict.tsx';
import { useInstallState } from './use-install-state.ts';

export function Overview(): JSX.Element {
  const install = useInstallState();
  return (
    <>
      <PageHead title="Overview" />
      <Verdict of={install} />
      {install.state !== undefined && install.isUnused ? <GetStarted /> : null}
      <Attention items={install.state?.attention ?? []} />
      <WholeNote text="These numbers, the queues and the processes cover all namespaces." />
      <Tiles />
      <div class="columns">
        <div>
          <Activity />
        </div>
        <div>
          <Feed />
          <QueueDepths />
          <Processes />
        </div>
      </div>
    </>
  );
}
