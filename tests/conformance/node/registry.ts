/** A registry that can only be read, over an OCI layout on disk: quicker than pushing a gigabyte into a real one for every world. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { MEDIA } from '../../../tools/machine/oci/image.ts';
import { blobPath, readLayout } from '../../../tools/machine/oci/layout.ts';

/** `/v2/NAME/manifests/REFERENCE` and `/v2/NAME/blobs/DIGEST`; containerd adds `?ns=` with the registry it means. */
const OBJECT = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** `hosts`: the registries whose images these are, as the first part of the names in the layout. */
export async function createRegistry(layout: string, hosts: readonly string[]): Promise<Server> {
  const names = await readLayout(layout);
  return createServer((request, response) => {
    answer({ layout, hosts, names }, request, response).catch((error: unknown) => {
      console.error(`${request.method} ${request.url}: ${String(error)}`);
      response.destroy();
    });
  });
}

interface Content {
  readonly layout: string;
  readonly hosts: readonly string[];
  readonly names: ReadonlyMap<string, string>;
}

async function answer(content: Content, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://registry');
  if (url.pathname === '/v2/') return void response.end('{}');
  const [, name = '', kind = '', reference = ''] = OBJECT.exec(url.pathname) ?? [];
  const digest = DIGEST.test(reference) ? reference : resolveTag(content, `${name}:${reference}`);
  const size = digest === undefined ? undefined : await sizeOf(blobPath(content.layout, digest));
  if (digest === undefined || size === undefined) return void response.writeHead(404).end();
  response.writeHead(200, {
    'content-type': kind === 'manifests' ? MEDIA.manifest : 'application/octet-stream',
    'content-length': size,
    'docker-content-digest': digest,
  });
  if (request.method === 'HEAD') return void response.end();
  await pipeline(createReadStream(blobPath(content.layout, digest)), response);
}

function resolveTag({ hosts, names }: Content, nameAndTag: string): string | undefined {
  return hosts.map((host) => names.get(`${host}/${nameAndTag}`)).find((digest) => digest !== undefined);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return await stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
