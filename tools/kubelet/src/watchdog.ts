// node watchdog.ts RUN — started by guard.ts, which holds the other end of stdin. When stdin ends without a word,
// the kubelet's process died: removes what is left of its run.
import { text } from 'node:stream/consumers';
import { removeRun } from './sweep.ts';

const [, , run = ''] = process.argv;
const word = await text(process.stdin);
if (word !== 'release') await removeRun(run);
