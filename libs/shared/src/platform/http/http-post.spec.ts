import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpPost } from './http-post.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(answer: Answer): Promise<{ url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function client(url: string, settings: { proxy?: string; timeout?: number } = {}): HttpPost {
  const post = new HttpPost({ url, timeout: 20_000, ...settings });
  open.push(() => post.close());
  return post;
}

const MESSAGE = {
  contentType: 'text/plain',
  body: 'text',
  isReceived: (status: number) => status >= 200 && status < 300,
};

describe('a POST', () => {
  it('that is accepted resolves, with path, query, type and credentials as given', async () => {
    const { url, seen } = await serve((_, response) => response.writeHead(204).end());
    const withUser = url.replace('http://', 'http://us%40er:pw@');
    await client(`${withUser}/a/b?c=d`).send(MESSAGE);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/a/b?c=d' });
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'text/plain',
      authorization: `Basic ${Buffer.from('us@er:pw').toString('base64')}`,
    });
  });

  it.each([301, 400, 500])(
    'that is answered with %d is an error, and nothing is followed',
    async (status) => {
      const { url, seen } = await serve((_, response) =>
        response.writeHead(status, { location: '/elsewhere' }).end(),
      );
      await expect(client(`${url}/hook`).send(MESSAGE)).rejects.toMatchObject({ code: `status ${status}` });
      expect(seen.length).toBe(1);
    },
  );

  it('that has no answer in time is an error', async () => {
    const { url } = await serve(() => undefined);
    await expect(client(url, { timeout: 50 }).send(MESSAGE)).rejects.toMatchObject({
      code: 'no answer within 50 ms',
    });
  });

  it('that nobody takes is an error that does not tell the URL', async () => {
    const { url } = await serve(() => undefined);
    for (const close of open.splice(0)) await close();
    const error: unknown = await client(`${url}/secret-token`)
      .send(MESSAGE)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'PostError', code: 'ECONNREFUSED' });
    expect(String((error as Error).stack)).not.toContain('secret-token');
  });

  it('goes through a proxy, if there is one', async () => {
    const { url, seen } = await serve((_, response) => response.writeHead(200).end());
    await client('http://receiver.invalid/hook', { proxy: url }).send(MESSAGE);
    expect(seen[0]?.url).toBe('http://receiver.invalid/hook');
  });
});
