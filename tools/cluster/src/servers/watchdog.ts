// node watchdog.ts DIR PID — started by guard.ts of process PID, which holds the other end of stdin.
// When stdin ends without a word, that process died: ends what it started in DIR and cleans up.
import { text } from 'node:stream/consumers';
import { Stack } from './stack.ts';
import { readState } from '../state.ts';

const [, , dir = '', owner = ''] = process.argv;
const word = await text(process.stdin);
const state = readState(dir);
if (word !== 'release' && state?.owner.pid === Number(owner)) await new Stack(state).remove();
