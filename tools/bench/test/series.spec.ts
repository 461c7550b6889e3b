import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { DelayProxy } from '../src/series/delay-proxy.ts';
import { lineChart } from '../src/series/line-chart.ts';

it('a chart begins at 0, spreads its points logarithmically and names each', () => {
  const points = [
    { x: 1, y: 40 },
    { x: 2, y: 80 },
    { x: 4, y: 150 },
  ];
  const svg = lineChart(points, { title: 'Throughput', x: 'workers', y: 'a second' });
  const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/gu)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
  const [first = [], second = [], third = []] = circles;
  expect((second[0] ?? 0) - (first[0] ?? 0)).toBeCloseTo((third[0] ?? 0) - (second[0] ?? 0), 0);
  expect(first[1]).toBeGreaterThan(second[1] ?? 0);
  for (const text of ['Throughput', 'workers', 'a second', '>40<', '>150<', '>0<'])
    expect(svg).toContain(text);
});

it('a proxy passes on what is sent both ways, in order, and answers later', async () => {
  const server = createServer((socket) => socket.on('data', (data) => socket.write(data)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await DelayProxy.start((server.address() as AddressInfo).port, 30);
  try {
    const client = connect(proxy.port, '127.0.0.1');
    const began = performance.now();
    client.write('a');
    client.write('b');
    let answer = '';
    while (answer.length < 2) answer += String((await once(client, 'data'))[0]);
    expect(answer).toBe('ab');
    // Timers may fire a millisecond early.
    expect(performance.now() - began).toBeGreaterThanOrEqual(29);
    client.destroy();
  } finally {
    await proxy.stop();
    server.close();
  }
});
